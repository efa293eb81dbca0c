/** Discovery and OpenAPI documents of the kinds that are part of the server. */
import type { Kind } from "#api";
import { Discovery, servedVersions } from "../discovery/index.ts";
import { installedDescriptions, OpenApi } from "../openapi/index.ts";
import { KUBERNETES_VERSION } from "./version.ts";

export interface ApiDocuments {
  readonly discovery: Discovery;
  readonly openApi: OpenApi;
}

export function apiDocuments(kinds: readonly Kind[], cbor = false): ApiDocuments {
  const discovery = new Discovery({ serverAddress: "127.0.0.1:6443" });
  const openApi = new OpenApi({
    descriptions: installedDescriptions(import.meta.url),
    kubernetesVersion: `v${KUBERNETES_VERSION.major}.${KUBERNETES_VERSION.minor}.${KUBERNETES_VERSION.patch}`,
    cbor,
  });
  const versions = servedVersions(kinds);
  discovery.set(...versions);
  openApi.set(...versions);
  return { discovery, openApi };
}
