/** Certificates, tokens, and the heads of requests that name a user or a format. */
import { X509Certificate } from "node:crypto";
import { type JsonObject, JsonSyntaxError, parseDocument, StatusError } from "#api";
import { VirtualClock } from "#base";
import { createAuthority } from "#pki";
import { authorizationToken, websocketToken } from "../../src/apiserver/authn/bearer.ts";
import { CertificateAuthorities } from "../../src/apiserver/authn/certificates.ts";
import { celExpressions } from "../../src/apiserver/authn/oidc/cel-expressions.ts";
import { claimsToUser } from "../../src/apiserver/authn/oidc/claims-to-user.ts";
import { tokenIssuer } from "../../src/apiserver/authn/service-account/issuer.ts";
import { temporaryKey } from "../../src/apiserver/authn/service-account/keys.ts";
import { accountTokenJudge, signedTokens } from "../../src/apiserver/authn/service-account/tokens.ts";
import { jwtAuthenticator } from "../../src/apiserver/authn/testing/jwt-authenticator.ts";
import { TestObjects } from "../../src/apiserver/authn/testing/objects.ts";
import { negotiate } from "../../src/apiserver/encode/negotiate.ts";
import type { ApiRequest } from "../../src/apiserver/http/exchange.ts";
import { RequestInfos, requestInfo } from "../../src/apiserver/http/request-info.ts";
import { issuerNameOf, pem } from "../../src/pki/certificate.ts";
import { elements } from "../../src/pki/der.ts";
import { PkiError } from "../../src/pki/errors.ts";
import { ensure, type Targets, texts } from "./target.ts";

const ISSUER = "https://kubernetes.default.svc";
const clock = new VirtualClock();
const now = Math.floor(clock.now() / 1000);
const authority = await createAuthority({ commonName: "test", clock });
const names = { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
const leaf = await authority.issue({ commonName: "jane", organizations: ["dev"], ...names, usages: ["client"] });
const certificates = [authority.certPem, leaf.certPem].map((text) => new X509Certificate(text).raw);

const key = temporaryKey();
const issuer = tokenIssuer(key, { issuer: ISSUER, audiences: [ISSUER], extendExpiration: true });
const { privateKey: _, ...publicKey } = key;
const objects = new TestObjects()
  .put("serviceaccounts", { metadata: { name: "sa", namespace: "ns", uid: "u" } })
  .put("pods", { metadata: { name: "web", namespace: "ns", uid: "p" } });
const authenticate = signedTokens(
  { keys: [publicKey], audiences: [ISSUER] },
  new Map([[ISSUER, accountTokenJudge({ objects, clock })]]),
);
const claims = {
  iss: ISSUER,
  sub: "system:serviceaccount:ns:sa",
  aud: [ISSUER],
  jti: "id",
  iat: now,
  nbf: now,
  exp: now + 3_600,
  "kubernetes.io": {
    namespace: "ns",
    serviceaccount: { name: "sa", uid: "u" },
    pod: { name: "web", uid: "p" },
    warnafter: now + 60,
  },
};
const token = await issuer.sign(claims);

const toUsers = [
  claimsToUser(jwtAuthenticator(), celExpressions()),
  claimsToUser(
    jwtAuthenticator({
      claimMappings: {
        username: { claim: "", prefix: undefined, expression: "claims.email" },
        groups: { claim: "", prefix: undefined, expression: "claims.roles.map(r, 'acme:' + r)" },
      },
    }),
    celExpressions(),
  ),
];
const infos = new RequestInfos();
const withHeaders = (headers: Record<string, string>) => ({ headers }) as unknown as ApiRequest;

export const credentialTargets: Targets = {
  der: { seeds: certificates, errors: [RangeError], read: (bytes) => tree(bytes, 0) },
  certificate: {
    seeds: certificates,
    errors: [PkiError],
    read: (bytes) => {
      const certificate = parsed(bytes);
      if (certificate === undefined) return false;
      const own = new CertificateAuthorities(pem("CERTIFICATE", certificate.raw), clock);
      own.check({ leaf: certificate, intermediates: [], verified: true });
      return issuerNameOf(certificate);
    },
  },
  "service account token": {
    seeds: texts(token),
    errors: [],
    read: async (bytes) => {
      const known = await authenticate(bytes.toString("latin1"), []);
      return known !== undefined && !("refused" in known);
    },
    inputs: 1_000,
  },
  "claims of a service account": {
    seeds: texts(JSON.stringify(claims)),
    errors: [SyntaxError],
    read: async (bytes) => {
      const sent = JSON.parse(bytes.toString()) as JsonObject;
      if (typeof sent !== "object" || sent === null || Array.isArray(sent)) return false;
      const known = await authenticate(await issuer.sign(sent), []);
      return known !== undefined && !("refused" in known);
    },
    inputs: 500,
  },
  "claims of a provider": {
    seeds: texts('{"sub":"jane","email":"jane@acme.com","email_verified":true,"roles":["dev","ops"],"groups":["a"]}'),
    errors: [JsonSyntaxError],
    read: (bytes) => {
      const sent = objectIn(bytes);
      return sent !== undefined && toUsers.every((toUser) => !("refused" in toUser(sent)));
    },
  },
  "bearer header": {
    seeds: texts("Bearer abc.def-ghi", "v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.dG9rZW4"),
    errors: [],
    read: (bytes) => {
      const text = bytes.toString("latin1");
      const socket = { upgrade: "websocket", "sec-websocket-protocol": text };
      const found = authorizationToken(withHeaders({ authorization: text })) ?? websocketToken(withHeaders(socket));
      return found !== undefined && "token" in found;
    },
  },
  "accept header": {
    seeds: texts(
      "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;q=0.5",
      "application/vnd.kubernetes.protobuf, */*;q=0.1",
    ),
    errors: [StatusError],
    read: (bytes) => negotiate(bytes.toString("latin1"), new URLSearchParams(), true),
  },
  "request path": {
    seeds: texts(
      "GET /api/v1/namespaces/ns/pods/web/log?container=main",
      "DELETE /apis/apps/v1/deployments?fieldSelector=metadata.name%3Da&watch=true",
      "PUT /api/v1/namespaces/ns/finalize",
    ),
    errors: [],
    read: (bytes) => {
      const [method = "", target = ""] = bytes.toString("latin1").split(" ");
      const [path = "", query = ""] = target.split("?");
      const parameters = new URLSearchParams(query);
      const { topic: _topic, ...info } = { ...plain(infos.of(method, path, parameters)) };
      const { topic: _none, ...again } = { ...plain(requestInfo(method, path, parameters)) };
      ensure(JSON.stringify(info) === JSON.stringify(again), "a remembered path differs");
      return info.isResourceRequest;
    },
  },
};

function plain(info: ReturnType<typeof requestInfo>): ReturnType<typeof requestInfo> {
  const { path, verb, isResourceRequest, apiGroup, apiVersion, namespace, resource, subresource, name, rest } = info;
  return { path, verb, isResourceRequest, apiGroup, apiVersion, namespace, resource, subresource, name, rest };
}

/** All elements, and those inside of constructed ones. */
function tree(bytes: Buffer, depth: number): boolean {
  for (const { tag, content } of elements(bytes)) if ((tag & 0x20) !== 0 && depth < 50) tree(content, depth + 1);
  return true;
}

function parsed(bytes: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    return undefined;
  }
}

function objectIn(bytes: Buffer): JsonObject | undefined {
  const { value } = parseDocument(bytes.toString());
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}
