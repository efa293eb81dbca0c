/** The operations of discovery and of the server itself, each in a document of its own. */
import { basePath, groupTitle, tagOf, titleOf } from "./names.ts";
import type { Content, Operation, PathOperations } from "./operation.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const ENCODINGS = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

type Asked = Pick<Operation, "id" | "tag" | "description" | "produces"> & {
  readonly consumes?: readonly string[];
  readonly answer: Content;
};

function getting(path: string, { answer, ...asked }: Asked): PathOperations {
  return { path, operations: [{ ...asked, method: "get", parameters: [], responses: { 200: answer } }] };
}

const discovering = (path: string, tag: string, id: string, description: string, type: string) =>
  getting(path, {
    tag,
    id,
    description,
    answer: { typeName: `${META}.${type}` },
    consumes: ENCODINGS,
    produces: ENCODINGS,
  });

/** By the name of their document in the index of version 3. */
export const SERVER_OPERATIONS: ReadonlyMap<string, PathOperations> = new Map([
  [
    ".well-known/openid-configuration",
    getting("/.well-known/openid-configuration/", {
      tag: "WellKnown",
      id: "getServiceAccountIssuerOpenIDConfiguration",
      description: "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
      produces: ["application/json"],
      answer: "text",
    }),
  ],
  ["api", discovering("/api/", "core", "getCoreAPIVersions", "get available API versions", "APIVersions")],
  ["apis", discovering("/apis/", "apis", "getAPIVersions", "get available API versions", "APIGroupList")],
  [
    "openid/v1/jwks",
    getting("/openid/v1/jwks/", {
      tag: "openid",
      id: "getServiceAccountIssuerOpenIDKeyset",
      description: "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)",
      produces: ["application/jwk-set+json"],
      answer: "text",
    }),
  ],
  [
    "version",
    getting("/version/", {
      tag: "version",
      id: "getCodeVersion",
      description: "get the version information for this server",
      consumes: ["application/json"],
      produces: ["application/json"],
      answer: { typeName: "io.k8s.apimachinery.pkg.version.Info" },
    }),
  ],
]);

export function groupOperations(group: string): PathOperations {
  const id = `get${groupTitle(group)}APIGroup`;
  return discovering(`/apis/${group}/`, tagOf(group), id, "get information of a group", "APIGroup");
}

export function resourcesOperations(group: string, version: string): PathOperations {
  const id = `get${titleOf(group, version)}APIResources`;
  const path = `${basePath(group, version)}/`;
  return discovering(path, tagOf(group, version), id, "get available resources", "APIResourceList");
}
