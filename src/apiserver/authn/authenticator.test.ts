import { describe, expect, it } from "vitest";
import type { ApiRequest } from "../http/exchange.ts";
import { authenticated } from "../http/exchange.ts";
import { ANONYMOUS, type UserInfo } from "../identity/user.ts";
import { type AuthenticatorOptions, authenticator } from "./authenticator.ts";
import { request } from "./testing/requests.ts";
import { staticTokens } from "./token-file.ts";
import { refused } from "./verdict.ts";

const ann: UserInfo = { name: "ann", uid: "1", groups: ["dev"] };
const known = { ...ann, groups: ["dev", "system:authenticated"] };
const component: UserInfo = { name: "system:kube-scheduler", groups: [] };
const byToken = { tokens: staticTokens(new Map([["secret", ann]])) };
const bearer = (value: string, ...more: readonly (readonly [string, string])[]) =>
  request({ headers: [["Authorization", value], ...more] });
const websocket = (protocols: string) =>
  request({
    headers: [
      ["Upgrade", "websocket"],
      ["Sec-WebSocket-Protocol", protocols],
    ],
  });
const encoded = (token: string) => `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString("base64url")}`;

describe("who makes a request", () => {
  const cases: readonly { name: string; given: ApiRequest; want: UserInfo; options?: AuthenticatorOptions }[] = [
    { name: "nobody said anything", given: request(), want: ANONYMOUS },
    { name: "an empty header", given: bearer(""), want: ANONYMOUS },
    { name: "a token", given: bearer("Bearer secret"), want: known },
    { name: "a token, in other letters and with more behind it", given: bearer("  bearer secret x "), want: known },
    { name: "a scheme that is not known", given: bearer("Basic c2VjcmV0"), want: ANONYMOUS },
    { name: "a scheme alone", given: bearer("Bearer"), want: ANONYMOUS },
    { name: "space before the token: ignored", given: bearer("Bearer  secret"), want: ANONYMOUS },
    {
      name: "two headers: the first counts",
      given: bearer("Bearer secret", ["authorization", "Bearer guess"]),
      want: known,
    },
    {
      name: "a component in this process",
      given: request({ user: component }),
      want: { ...component, groups: ["system:authenticated"] },
    },
    {
      name: "a component's identity counts more than a token",
      given: { ...bearer("Bearer secret"), user: component },
      want: { ...component, groups: ["system:authenticated"] },
    },
    { name: "who is authenticated already stays as is", given: request({ user: known }), want: known },
    { name: "a token as a subprotocol", given: websocket(`v5.channel.k8s.io, ${encoded("secret")}`), want: known },
    { name: "subprotocols without a token", given: websocket("v5.channel.k8s.io"), want: ANONYMOUS },
    {
      name: "a token as a subprotocol, but no WebSocket",
      given: request({ headers: [["Sec-WebSocket-Protocol", `a,${encoded("secret")}`]] }),
      want: ANONYMOUS,
    },
    {
      name: "a certificate that is not good, and a token that is",
      given: bearer("Bearer secret"),
      options: { ...byToken, certificates: () => refused("signed by unknown authority") },
      want: known,
    },
    {
      name: "a front proxy before a certificate before a token",
      given: bearer("Bearer secret"),
      options: { ...byToken, frontProxy: () => ({ user: component }), certificates: () => ({ user: ann }) },
      want: { ...component, groups: ["system:authenticated"] },
    },
    {
      name: "anonymous where a path allows it",
      given: request({ path: "/livez" }),
      options: { anonymous: () => ({ enabled: true, paths: ["/livez"] }) },
      want: ANONYMOUS,
    },
  ];
  it.each(cases)("$name", async ({ given, want, options = byToken }) => {
    expect(await authenticator(options)(given)).toEqual(want);
  });

  const bad: readonly { name: string; given: ApiRequest; options?: AuthenticatorOptions }[] = [
    { name: "a token that nobody knows", given: bearer("Bearer guess") },
    {
      name: "the same, after a good one in a second header",
      given: bearer("Bearer guess", ["Authorization", "Bearer secret"]),
    },
    { name: "a certificate that is not good", given: request(), options: { certificates: () => refused("x") } },
    { name: "two tokens as subprotocols", given: websocket(`a,${encoded("secret")},${encoded("secret")}`) },
    { name: "a token as the only subprotocol", given: websocket(encoded("secret")) },
    { name: "a subprotocol that is no token", given: websocket(`a,${encoded("secret")}$`) },
    { name: "nobody, where that is not allowed", given: request(), options: { anonymous: () => ({ enabled: false }) } },
    {
      name: "nobody, on another path than those allowed",
      given: request({ path: "/livez/ping" }),
      options: { anonymous: () => ({ enabled: true, paths: ["/livez"] }) },
    },
  ];
  it.each(bad)("refuses $name", async ({ given, options = byToken }) => {
    await expect(authenticator(options)(given)).rejects.toMatchObject({
      code: 401,
      reason: "Unauthorized",
      message: "Unauthorized",
    });
  });

  it("warns of a token that it ignores", async () => {
    const warnings: string[] = [];
    const remarks = { warn: (message: string) => warnings.push(message), annotate: () => {} };
    await authenticator(byToken)(bearer("Bearer  secret"), remarks);
    expect(warnings).toEqual([
      "the provided Authorization header contains extra space before the bearer token, and is ignored",
    ]);
  });
});

describe("what a way has to say about a credential", () => {
  it("reaches the caller and the audit log", async () => {
    const heard: string[] = [];
    const tokens = async () => ({ user: ann, warnings: ["renew it"], annotations: { stale: "yes" } });
    await authenticator({ tokens })(bearer("Bearer x"), {
      warn: (message) => heard.push(message),
      annotate: (key, value) => heard.push(`${key}=${value}`),
    });
    expect(heard).toEqual(["renew it", "stale=yes"]);
  });
});

describe("a request once it is known whose it is", () => {
  it("carries nothing any more that it was known by", () => {
    const given = request({
      headers: [
        ["Accept", "application/json"],
        ["Authorization", "Bearer secret"],
        ["X-Remote-User", "eve"],
        ["X-Remote-Extra-Scopes", "all"],
        ["Impersonate-User", "bob"],
        ["Sec-WebSocket-Protocol", `v5.channel.k8s.io, ${encoded("secret")}`],
      ],
    });
    const { headers, rawHeaders, user } = authenticated(given, ann);
    expect({ headers, rawHeaders, user }).toEqual({
      headers: { accept: "application/json", "sec-websocket-protocol": "v5.channel.k8s.io" },
      user: ann,
    });
  });
});
