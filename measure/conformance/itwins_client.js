// Another team's client of the same platform lists iTwins and reads the primary account from the sandbox.
// Run as `node itwins_client.js BASE_URL`.
const { ITwinsAccessClient, ITwinSubClass } = require("@itwin/itwins-client");

async function main() {
  const client = new ITwinsAccessClient(`${process.argv[2]}/itwins`);
  const listed = await client.queryAsync("Bearer any-word", ITwinSubClass.Project, { top: 10 });
  const account = await client.getPrimaryAccountAsync("Bearer any-word");
  console.log(JSON.stringify({ listed, account }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
