// All eight calls and a rejected one with the types that openapi-typescript makes, through openapi-fetch.
import createClient from "openapi-fetch";

import type { paths } from "./types";

const [baseUrl, ids] = [process.argv[2], JSON.parse(process.argv[3])];
const client = (version: string) => createClient<paths>({
  baseUrl,
  headers: { Authorization: "Bearer any-word", Accept: `application/vnd.vendor.itwin-platform.${version}+json` },
});
const [v1, v2] = [client("v1"), client("v2")];
const path = { iTwinId: ids.itwin, repositoryId: ids.repository };
const view = { position: { x: 1, y: 2, z: 3 }, direction: { x: 0, y: 1, z: 0 }, up: { x: 0, y: 0, z: 1 } };

type Result = { response: Response; error?: { error: { code: string | null } } };

async function result<T extends Result & { data?: unknown }>(
  sent: Promise<T>, value: (data: NonNullable<T["data"]>) => string,
): Promise<[number, string]> {
  const { data, error, response } = await sent;
  return [response.status, data ? value(data) : String(error?.error.code)];
}

const calls: [string, () => Promise<[number, string]>][] = [
  ["list_itwins", () => result(
    v1.GET("/itwins/", { params: { query: { $top: 5, subClass: ["Project"] } } }), (data) => data.iTwins[0].id)],
  ["get_primary_account", () => result(v1.GET("/itwins/myprimaryaccount"), (data) => data.iTwin.id)],
  ["update_repository", () => result(
    v1.PATCH("/itwins/{iTwinId}/repositories/{repositoryId}", {
      params: { path }, body: { displayName: "From openapi-fetch" },
    }), (data) => data.repository.id)],
  ["create_repository_resource", () => result(
    v1.POST("/itwins/{iTwinId}/repositories/{repositoryId}/resources", {
      params: { path }, body: { id: "typed", displayName: "typed" },
    }), (data) => data.resource.id)],
  ["create_scene", () => result(
    v1.POST("/scenes/", {
      params: { query: { iTwinId: ids.itwin } },
      body: { displayName: "typed", sceneData: { objects: [{ version: "1.0.0", kind: "View3d", data: view }] } },
    }), (data) => data.scene.id)],
  ["list_scene_objects", () => result(
    v1.GET("/scenes/{sceneId}/objects", { params: { path: { sceneId: ids.scene }, query: { iTwinId: ids.itwin } } }),
    (data) => data.objects[0].id)],
  ["create_detector", () => result(
    v2.POST("/reality-analysis/detectors", { body: { name: "@typed/cracks", type: "PhotoObjectDetector" } }),
    (data) => data.detector.name)],
  ["update_webhook", () => result(
    v2.PATCH("/webhooks/{webhookId}", { params: { path: { webhookId: ids.webhook } }, body: { active: true } }),
    (data) => data.id)],
  ["rejected", () => result(v1.GET("/itwins/", { params: { query: { $top: 100000 } } }), () => "accepted")],
];

async function main(): Promise<void> {
  const rows: { name: string; status: number; value: string }[] = [];
  for (const [name, call] of calls) {
    const [status, value] = await call();
    rows.push({ name, status, value });
  }
  console.log(JSON.stringify(rows));
}

void main();
