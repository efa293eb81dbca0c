/** Tokens of service accounts, from `kubectl create token` to their end, and other ways to show who one is. */
import { createPublicKey, verify } from "node:crypto";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

const program = tool("kubectl");
const home = clusterForFile();
const kubectl = new CommandLine(program, home);

/** kubectl as somebody who has nothing but a token. */
function bearer(token: string): (...args: string[]) => ReturnType<CommandLine["run"]> {
  const file = join(home().dir, "bearer");
  const cluster = { server: home().runState().url, "insecure-skip-tls-verify": true };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user: { token } }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    "current-context": "c",
  };
  writeFileSync(file, JSON.stringify(config));
  return (...args) => kubectl.run(...args, "--kubeconfig", file);
}

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
const pod = (name: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { serviceAccountName: "robot", containers: [{ name: "c", image: "i" }] },
});

describe.skipIf(program === undefined)("kubectl create token", () => {
  it("gives a token that speaks for the account, and is over with it", async () => {
    await kubectl.ok("create", "serviceaccount", "robot");
    const token = (await kubectl.ok("create", "token", "robot", "--duration", "2h")).trim();
    const uid = await kubectl.ok("get", "serviceaccount", "robot", "-o", "jsonpath={.metadata.uid}");
    const claims = claimsOf(token);
    expect(claims).toEqual({
      aud: ["https://kubernetes.default.svc.cluster.local"],
      exp: claims.iat + 7200,
      iat: expect.any(Number),
      iss: "https://kubernetes.default.svc.cluster.local",
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      "kubernetes.io": { namespace: "default", serviceaccount: { name: "robot", uid } },
      nbf: claims.iat,
      sub: "system:serviceaccount:default:robot",
    });

    const robot = bearer(token);
    const { stdout } = await robot("auth", "whoami");
    expect(stdout).toMatch(/^Username +system:serviceaccount:default:robot$/m);
    expect(stdout).toMatch(/^Groups +\[system:serviceaccounts system:serviceaccounts:default system:authenticated\]$/m);
    expect(stdout).toMatch(
      new RegExp(`^Extra: authentication.kubernetes.io/credential-id +\\[JTI=${claims.jti}\\]$`, "m"),
    );
    await kubectl.ok("create", "rolebinding", "robot", "--clusterrole=view", "--serviceaccount=default:robot");
    expect(await robot("get", "configmaps")).toMatchObject({ code: 0 });
    expect(await robot("get", "secrets")).toMatchObject({ code: 1, stderr: expect.stringContaining("Forbidden") });

    await kubectl.ok("delete", "serviceaccount", "robot");
    await kubectl.ok("create", "serviceaccount", "robot");
    expect(await robot("get", "configmaps")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("You must be logged in to the server (Unauthorized)"),
    });
  });

  it("binds it to a pod, and is over with that", async () => {
    await kubectl.given(pod("web")).ok("create", "-f", "-");
    const bound = ["--bound-object-kind", "Pod", "--bound-object-name", "web"];
    const token = (await kubectl.ok("create", "token", "robot", ...bound)).trim();
    const robot = bearer(token);
    expect((await robot("auth", "whoami")).stdout).toMatch(/^Extra: authentication.kubernetes.io\/pod-name +\[web\]$/m);
    await kubectl.ok("delete", "pod", "web", "--force", "--grace-period=0");
    expect(await robot("auth", "whoami")).toMatchObject({ code: 1, stderr: expect.stringContaining("Unauthorized") });
  });

  it("gives it for an audience, which a review asks about", async () => {
    const token = (await kubectl.ok("create", "token", "robot", "--audience", "vault")).trim();
    expect(await bearer(token)("auth", "whoami")).toMatchObject({ code: 1 });
    const review = async (audiences: string[]) => {
      const kind = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview" };
      const answer = await kubectl.given({ ...kind, spec: { token, audiences } }).ok("create", "-f", "-", "-o", "json");
      return JSON.parse(answer).status;
    };
    expect(await review(["vault"])).toMatchObject({
      authenticated: true,
      audiences: ["vault"],
      user: { username: "system:serviceaccount:default:robot" },
    });
    expect(await review([])).toEqual({
      error:
        '[invalid bearer token, token audiences ["vault"] is invalid for the target audiences ["https://kubernetes.default.svc.cluster.local"]]',
      user: {},
    });
  });

  it.each([
    {
      args: ["robot", "--duration", "5m"],
      want: 'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 300: may not specify a duration less than 10 minutes',
    },
    { args: ["nobody"], want: 'serviceaccounts "nobody" not found' },
    {
      args: ["default", "--bound-object-kind", "Secret", "--bound-object-name", "none"],
      want: 'secrets "none" not found',
    },
  ])("refuses: $args", async ({ args, want }) => {
    await kubectl.run("create", "serviceaccount", "default");
    expect(await kubectl.fails("create", "token", ...args)).toBe(`error: failed to create token: ${want}\n`);
  });

  it("gives one that others can verify by the keys that the cluster publishes", async () => {
    const token = (await kubectl.ok("create", "token", "robot")).trim();
    const { issuer, jwks_uri } = JSON.parse(await kubectl.ok("get", "--raw", "/.well-known/openid-configuration"));
    expect({ issuer, jwks_uri }).toEqual({
      issuer: claimsOf(token).iss,
      jwks_uri: `${home().runState().url}/openid/v1/jwks`,
    });
    const { keys } = JSON.parse(await kubectl.ok("get", "--raw", "/openid/v1/jwks"));
    const [header = "", payload = "", signature = ""] = token.split(".");
    const { kid, alg } = JSON.parse(Buffer.from(header, "base64url").toString());
    const jwk = keys.find((key: { kid: string }) => key.kid === kid);
    expect(jwk).toMatchObject({ alg, use: "sig" });
    const key = createPublicKey({ key: jwk, format: "jwk" });
    const bytes = Buffer.from(`${header}.${payload}`);
    const signed = Buffer.from(signature, "base64url");
    expect(verify("sha256", bytes, { key, dsaEncoding: "ieee-p1363" }, signed)).toBe(true);
  });

  it("signs by a key that nobody else can read", () => {
    expect(statSync(join(home().dataDir, "pki", "sa.key")).mode & 0o777).toBe(0o600);
  });
});

describe.skipIf(program === undefined)("kubectl with a bootstrap token", () => {
  it("is who the Secret says, until the Secret is gone", async () => {
    const stringData = {
      "token-id": "abcdef",
      "token-secret": "0123456789abcdef",
      "usage-bootstrap-authentication": "true",
      "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
    };
    const metadata = { name: "bootstrap-token-abcdef", namespace: "kube-system" };
    const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "bootstrap.kubernetes.io/token", stringData };
    await kubectl.given(secret).ok("create", "-f", "-");
    const node = bearer("abcdef.0123456789abcdef");
    const { stdout } = await node("auth", "whoami");
    expect(stdout).toMatch(/^Username +system:bootstrap:abcdef$/m);
    expect(stdout).toMatch(
      /^Groups +\[system:bootstrappers system:bootstrappers:kubeadm:default-node-token system:authenticated\]$/m,
    );
    await kubectl.ok("delete", "secret", "-n", "kube-system", "bootstrap-token-abcdef");
    expect(await node("auth", "whoami")).toMatchObject({ code: 1 });
  });
});
