// All eight calls and a rejected one with the client that openapi-generator makes for TypeScript (fetch).
import {
  Configuration, DetectorsApi, DetectorType, ItwinsApi, RepositoriesApi, ResponseError, ScenesApi, WebhooksApi,
} from "./client";

const [basePath, ids] = [process.argv[2], JSON.parse(process.argv[3])];
const configuration = (version: string) => new Configuration({
  basePath,
  accessToken: "any-word",
  headers: { Accept: `application/vnd.vendor.itwin-platform.${version}+json` },
});
const [v1, v2] = [configuration("v1"), configuration("v2")];
const path = { iTwinId: ids.itwin, repositoryId: ids.repository };
const repositories = new RepositoriesApi(v1), itwins = new ItwinsApi(v1), scenes = new ScenesApi(v1);
const view = { position: { x: 1, y: 2, z: 3 }, direction: { x: 0, y: 1, z: 0 }, up: { x: 0, y: 0, z: 1 } };

const calls: [string, () => Promise<unknown>][] = [
  ["list_itwins", async () => (await itwins.listItwins({ $top: 5, subClass: ["Project"] })).iTwins[0].id],
  ["get_primary_account", async () => (await itwins.getPrimaryAccount()).iTwin.id],
  ["update_repository", async () =>
    (await repositories.updateRepository({ ...path, repositoryUpdate: { displayName: "From fetch" } })).repository.id],
  ["create_repository_resource", async () => (await repositories.createRepositoryResource({
    ...path, resourceCreate: { id: "fetch", displayName: "fetch" },
  })).resource.id],
  ["create_scene", async () => (await scenes.createScene({
    iTwinId: ids.itwin,
    sceneCreate: { displayName: "fetch", sceneData: { objects: [{ version: "1.0.0", kind: "View3d", data: view }] } },
  })).scene.id],
  ["list_scene_objects", async () =>
    (await scenes.listSceneObjects({ sceneId: ids.scene, iTwinId: ids.itwin })).objects[0].id],
  ["create_detector", async () => (await new DetectorsApi(v2).createDetector({
    detectorCreate: { name: "@fetch/cracks", type: DetectorType.PHOTO_OBJECT_DETECTOR },
  })).detector.name],
  ["update_webhook", async () =>
    (await new WebhooksApi(v2).updateWebhook({ webhookId: ids.webhook, webhookUpdate: { active: true } })).id],
  ["rejected", async () => itwins.listItwins({ $top: 100000 })],
];

async function main(): Promise<void> {
  const rows: { name: string; status: number; value: string }[] = [];
  for (const [name, call] of calls) {
    try {
      rows.push({ name, status: 200, value: String(await call()) });
    } catch (error) {
      const rejected = error instanceof ResponseError;
      const body = rejected ? (await error.response.json()).error.code : String(error);
      rows.push({ name, status: rejected ? error.response.status : 0, value: body });
    }
  }
  console.log(JSON.stringify(rows));
}

void main();
