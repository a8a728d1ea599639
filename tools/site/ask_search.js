// Runs the search worker of the built site, as a browser does, and prints the locations that it finds for each query.
// Run as `node ask_search.js SITE QUERY...`; prints a JSON object of lists of locations, best first.
const fs = require("fs");
const path = require("path");

const [site, ...queries] = process.argv.slice(2);
const workers = path.join(site, "assets", "javascripts", "workers");
const worker = fs.readdirSync(workers).find((name) => /^search\..*\.js$/.test(name));
const index = JSON.parse(fs.readFileSync(path.join(site, "search.json"), "utf8"));

let receive;
globalThis.self = globalThis;
globalThis.postMessage = (message) => receive(message);
(0, eval)(fs.readFileSync(path.join(workers, worker), "utf8"));

const ask = (message) =>
  new Promise((resolve) => {
    receive = resolve;
    globalThis.onmessage({ data: message });
  });

(async () => {
  await ask({ type: 0, data: index });
  const found = {};
  for (const input of queries) {
    const { data } = await ask({ type: 2, data: { input, filter: { input: [] } } });
    found[input] = (data.items || []).map((item) => index.items[item.id].location);
  }
  console.log(JSON.stringify(found));
})();
