/**
 * The flags of authentication on the real command: users of an OpenID provider, authorities that change, keys that are
 * changed for others.
 */
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { realClock } from "#base";
import { createAuthority, type KeyPair } from "#pki";
import { AUDIENCE, startOidcServer } from "../src/apiserver/authn/testing/oidc-server.ts";
import { Home } from "./support/k8ts.ts";

interface Who {
  readonly pair?: KeyPair;
  readonly token?: string;
}

interface Answer {
  readonly status: number;
  readonly body: { readonly status?: { readonly userInfo?: { readonly username: string; readonly groups: string[] } } };
}

const WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

async function ask(home: Home, { pair, token }: Who, path = WHO_AM_I): Promise<Answer> {
  const agent = new Agent({ rejectUnauthorized: false, ...(pair && { cert: pair.certPem, key: pair.keyPem }) });
  const outgoing = request(`${home.runState().url}${path}`, {
    method: path === WHO_AM_I ? "POST" : "GET",
    agent,
    headers: { "content-type": "application/json", ...(token !== undefined && { authorization: `Bearer ${token}` }) },
  });
  outgoing.end(path === WHO_AM_I ? "{}" : undefined);
  const [response] = await once(outgoing, "response");
  const text = Buffer.concat(await response.toArray()).toString();
  const body = path === WHO_AM_I ? (JSON.parse(text) as Answer["body"]) : {};
  agent.destroy();
  return { status: response.statusCode, body };
}

const nameOf = ({ status, body }: Answer) => body.status?.userInfo?.username ?? status;

describe("k8ts up, with flags of authentication", () => {
  const homes: Home[] = [];
  afterEach(async () => {
    for (const home of homes.splice(0)) await home[Symbol.asyncDispose]();
  });
  const newHome = () => {
    const home = new Home();
    homes.push(home);
    return home;
  };
  const up = (home: Home, ...flags: string[]) =>
    home.k8ts("up", "--store", "memory", "--port", "0", "--nodes", "0", "--detach", ...flags);
  const file = (home: Home, name: string, content: string) => {
    const path = join(home.dir, name);
    writeFileSync(path, content);
    return path;
  };

  it("knows users of OpenID providers, by a configuration that may change", async () => {
    const provider = await startOidcServer();
    try {
      const home = newHome();
      const configuration = (prefix: string) =>
        JSON.stringify({
          apiVersion: "apiserver.config.k8s.io/v1",
          kind: "AuthenticationConfiguration",
          jwt: [
            {
              issuer: { url: provider.issuer, certificateAuthority: provider.ca, audiences: [AUDIENCE] },
              claimMappings: { username: { claim: "sub", prefix }, groups: { expression: "claims.groups" } },
              userValidationRules: [{ expression: "!user.groups.exists(g, g.startsWith('system:'))", message: "no" }],
            },
          ],
          anonymous: { enabled: true, conditions: [{ path: "/livez" }] },
        });
      const config = file(home, "authn.yaml", configuration("first:"));
      expect(await up(home, "--authentication-config", config)).toMatchObject({ code: 0 });
      const token = await provider.token({ groups: ["dev"] });
      expect((await ask(home, { token })).body.status?.userInfo).toMatchObject({
        username: "first:kubectl",
        groups: ["dev", "system:authenticated"],
      });
      expect(nameOf(await ask(home, { token: await provider.token({ groups: ["system:masters"] }) }))).toBe(401);
      expect((await ask(home, {}, "/livez")).status).toBe(200);
      expect((await ask(home, {}, "/readyz")).status).toBe(401);

      writeFileSync(config, "nonsense");
      writeFileSync(config, configuration("second:"));
      await expect.poll(async () => nameOf(await ask(home, { token }))).toBe("second:kubectl");
    } finally {
      await provider.close();
    }
  });

  it("knows clients of more authorities, and no longer when their file says otherwise", async () => {
    const home = newHome();
    const clock = realClock();
    const [one, two] = await Promise.all(["one", "two"].map((commonName) => createAuthority({ commonName, clock })));
    if (one === undefined || two === undefined) throw new Error("no authority was made");
    const ann = { pair: await one.issue({ commonName: "ann", usages: ["client"] }) };
    const bob = { pair: await two.issue({ commonName: "bob", usages: ["client"] }) };
    const bundle = file(home, "clients.crt", one.certPem);
    expect(await up(home, "--client-ca-file", bundle, "--anonymous-auth=false")).toMatchObject({ code: 0 });
    expect([nameOf(await ask(home, ann)), nameOf(await ask(home, bob)), nameOf(await ask(home, {}))]).toEqual([
      "ann",
      401,
      401,
    ]);
    writeFileSync(bundle, two.certPem);
    await expect.poll(async () => nameOf(await ask(home, bob))).toBe("bob");
    expect(nameOf(await ask(home, ann))).toBe(401);
  });

  it("goes on with tokens of an older key and an older issuer", async () => {
    const home = newHome();
    const adminToken = file(home, "tokens.csv", 'root,root,u1,"system:masters"');
    const flags = ["--store", "embedded", "--token-auth-file", adminToken];
    expect(await up(home, ...flags)).toMatchObject({ code: 0 });
    const token = async () => {
      const agent = new Agent({ rejectUnauthorized: false });
      const path = "/api/v1/namespaces/default/serviceaccounts/robot";
      const post = async (url: string, body: object) => {
        const outgoing = request(`${home.runState().url}${url}`, {
          method: "POST",
          agent,
          headers: { "content-type": "application/json", authorization: "Bearer root" },
        });
        outgoing.end(JSON.stringify(body));
        const [response] = await once(outgoing, "response");
        return (await json(response)) as { status?: { token?: string } };
      };
      await post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "robot" } });
      const { status } = await post(`${path}/token`, { spec: {} });
      agent.destroy();
      return status?.token ?? "";
    };
    const older = await token();
    await home.k8ts("down");

    const pem = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" });
    const key = file(home, "new.key", pem.toString());
    const issuer = "https://kubernetes.default.svc.cluster.local";
    const rotated = ["--service-account-signing-key-file", key, "--service-account-issuer", "https://new.example"];
    expect(await up(home, ...flags, ...rotated, "--service-account-issuer", issuer)).toMatchObject({ code: 0 });
    const newer = await token();
    const header = JSON.parse(Buffer.from(newer.split(".")[0] ?? "", "base64url").toString());
    expect(header.alg).toBe("RS256");
    for (const each of [older, newer]) {
      expect(nameOf(await ask(home, { token: each }))).toBe("system:serviceaccount:default:robot");
    }
  });

  it.each([
    { flags: ["--authentication-config", "/none"], want: /--authentication-config: ENOENT/ },
    { flags: ["--oidc-issuer-url", "https://i"], want: /must be specified together/ },
    { flags: ["--oidc-issuer-url", "http://i", "--oidc-client-id", "c"], want: /URL scheme must be https/ },
    { flags: ["--service-account-key-file", "/dev/null"], want: /\/dev\/null holds no key in PEM/ },
    { flags: ["--anonymous-auth=perhaps"], want: /It must be true or false/ },
  ])("refuses $flags in one sentence", async ({ flags, want }) => {
    const { code, stderr, stdout } = await up(newHome(), ...flags);
    expect(code).toBe(1);
    expect(stderr + stdout).toMatch(want);
    expect(stderr).not.toMatch(/unexpected failure|\n\s+at /);
  });
});
