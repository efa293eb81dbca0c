import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decodeEnvelope, decodeProtobuf, encodeProtobuf, type JsonObject, parseJson, typeSchema } from "#api";
import { configMap, type TestServer, testServer } from "../testing/index.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const PROTOBUF = { headers: { accept: "application/vnd.kubernetes.protobuf" } };
const SCHEMA = typeSchema("io.k8s.api.core.v1.ConfigMapList");

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
});
afterEach(() => server.close());

async function bothForms(query: string) {
  const { text } = await server.request("GET", CONFIG_MAPS + query);
  const { bytes } = await server.request("GET", CONFIG_MAPS + query, PROTOBUF);
  const { kind, apiVersion, raw } = decodeEnvelope(bytes);
  expect({ kind, apiVersion }).toEqual({ kind: "ConfigMapList", apiVersion: "v1" });
  const whole = encodeProtobuf(SCHEMA, parseJson(text) as JsonObject);
  return { raw: Buffer.from(raw), whole: Buffer.from(whole) };
}

describe("a list as protobuf", () => {
  it("has the bytes of the list that is encoded as a whole, also after changes", async () => {
    const lists: string[] = ["", "?limit=2", "?labelSelector=none%3Dsuch"];
    const compare = async () => {
      for (const query of lists) {
        const { raw, whole } = await bothForms(query);
        // The continue token is random: only the other lists are the same each time they are asked.
        if (query === "?limit=2") expect(decodeProtobuf(SCHEMA, raw)).toEqual(decodeProtobuf(SCHEMA, whole));
        else expect(raw.equals(whole)).toBe(true);
      }
    };
    await compare();
    for (let i = 0; i < 5; i++)
      await server.request("POST", CONFIG_MAPS, { body: configMap(`c-${i}`, { text: "é".repeat(i * 100) }) });
    await compare();
    await server.request("PUT", `${CONFIG_MAPS}/c-3`, { body: configMap("c-3", { text: "other" }) });
    await server.request("DELETE", `${CONFIG_MAPS}/c-1`);
    await compare();
  });
});
