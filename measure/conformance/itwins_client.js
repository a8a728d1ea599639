// Another team's client of the same platform works with the sandbox: every parameter of its listing, the primary account,
// and, through its own sender, two operations that it has no method for. Run it as `node itwins_client.js BASE_URL IDS`.
const { ITwinsAccessClient, ITwinSubClass } = require("@itwin/itwins-client");

async function run(baseUrl, ids) {
  const client = new ITwinsAccessClient(`${baseUrl}/itwins`);
  const token = "Bearer any-word";
  const list = (subClass, query) => client.queryAsync(token, subClass, query);
  const repository = `${baseUrl}/itwins/${ids.itwin_id}/repositories/${ids.repository_id}`;
  const account = (await client.getPrimaryAccountAsync(token)).data ?? {};
  const calls = {
    "getPrimaryAccountAsync": () => client.getPrimaryAccountAsync(token),
    "queryAsync()": () => list(),
    "queryAsync(subClass)": () => list(ITwinSubClass.Project),
    "queryAsync top, skip": () => list(ITwinSubClass.Project, { top: 3, skip: 2 }),
    "queryAsync subClass in the argument": () => list(undefined, { subClass: ITwinSubClass.Asset }),
    "queryAsync status": () => list(undefined, { status: "Trial" }),
    "queryAsync type": () => list(undefined, { type: "Bridge" }),
    "queryAsync includeInactive": () => list(undefined, { includeInactive: true }),
    "queryAsync search": () => list(undefined, { search: "Bridge" }),
    "queryAsync displayName": () => list(undefined, { displayName: account.displayName }),
    "queryAsync number": () => list(undefined, { number: account.number }),
    "queryAsync parentId": () => list(undefined, { parentId: ids.account_id }),
    "queryAsync iTwinAccountId": () => list(undefined, { iTwinAccountId: ids.account_id }),
    "queryAsync resultMode representation": () => list(undefined, { resultMode: "representation" }),
    "queryAsync queryScope memberOfItwin": () => list(undefined, { queryScope: "memberOfItwin" }),
    "queryAsync queryScope all": () => list(undefined, { queryScope: "all" }),
    "update repository": () =>
      client.sendGenericAPIRequest(token, "PATCH", repository, { displayName: "Renamed" }, "repository"),
    "create repository resource": () =>
      client.sendGenericAPIRequest(
        token,
        "POST",
        `${repository}/resources`,
        { id: "layer", displayName: "Layer" },
        "resource",
      ),
  };
  const results = [];
  for (const [name, call] of Object.entries(calls)) {
    const { status, data, error } = await call();
    const count = Array.isArray(data) ? data.length : data?.id ? 1 : 0;
    results.push({ name, status, count, error: error?.code ?? null });
  }
  return results;
}

run(process.argv[2], JSON.parse(process.argv[3])).then((results) => console.log(JSON.stringify(results)));
