import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compileRegistries, rewrittenRepository } from "./compile.ts";
import { loadRegistries } from "./load.ts";
import { parseRegistries } from "./registries-file.ts";

const compiled = (text: string) =>
  compileRegistries(parseRegistries(text), { text: (file) => `text of ${file}`, rewriteUrl: "http://10.0.0.1:3128/r" });
const files = (text: string) => Object.fromEntries(compiled(text).files);

describe("registries.yaml", () => {
  it.each<[string, string, string]>([
    ["an unknown field", "mirror: {}", 'unknown field "mirror"'],
    ["one of a mirror", "mirrors: { a.b: { endpoints: [] } }", 'unknown field "mirrors[\\"a.b\\"].endpoints"'],
    ["one of tls", "configs: { a.b: { tls: { caFile: x } } }", 'unknown field "configs[\\"a.b\\"].tls.caFile"'],
    ["no list", "mirrors: { a.b: { endpoint: x } }", 'mirrors["a.b"].endpoint: must be a list'],
    ["no URL", "mirrors: { a.b: { endpoint: [c.d] } }", 'mirrors["a.b"].endpoint[0]: "c.d" is not a URL'],
    ["a password in a URL", 'mirrors: { a.b: { endpoint: ["https://u:p@c.d"] } }', "is not a URL"],
    ["no host", 'mirrors: { "https://a.b": {} }', 'mirrors["https://a.b"]: must be a host'],
    [
      "a rewrite that is no pattern",
      'mirrors: { a.b: { endpoint: ["http://c"], rewrite: { "(": x } } }',
      'mirrors["a.b"].rewrite',
    ],
    ["a rewrite of nothing", 'mirrors: { a.b: { rewrite: { "a": x } } }', "acts on endpoints"],
    ["half of a certificate", "configs: { a.b: { tls: { cert_file: x } } }", "cert_file and key_file belong together"],
    [
      "a name without password",
      "configs: { a.b: { auth: { username: x } } }",
      'configs["a.b"].auth.password: is required',
    ],
    ["no credentials", "configs: { a.b: { auth: {} } }", "needs username and password, auth, or identity_token"],
    ["auth that is none", "configs: { a.b: { auth: { auth: eA== } } }", "must be USERNAME:PASSWORD in base64"],
    ["a word for a truth", 'configs: { a.b: { tls: { insecure_skip_verify: "no" } } }', "must be true or false"],
    ["no YAML", "a: [", "Flow"],
    ["several", "a: 1\nb: 2", 'unknown field "a"; unknown field "b"'],
  ])("with %s is refused", (_, text, want) => expect(() => parseRegistries(text)).toThrow(want));

  it.each<[string, string, Record<string, string>]>([
    ["nothing", "", {}],
    [
      "a mirror",
      'mirrors: { docker.io: { endpoint: ["https://m.example:5000", "http://n.example/hub/v2"] } }',
      {
        "docker.io/hosts.toml":
          '[host."https://m.example:5000"]\n  capabilities = ["pull", "resolve"]\n\n[host."http://n.example/hub/v2"]\n  capabilities = ["pull", "resolve"]\n  override_path = true\n',
      },
    ],
    [
      "a mirror of all",
      'mirrors: { "*": { endpoint: ["https://m.example"] } }',
      {
        "_default/hosts.toml": '[host."https://m.example"]\n  capabilities = ["pull", "resolve"]\n',
      },
    ],
    [
      "a registry with its own CA and certificate",
      "configs: { r.example:5000: { tls: { ca_file: a, cert_file: b, key_file: c } } }",
      {
        "r.example:5000/r.example_5000.ca.pem": "text of a",
        "r.example:5000/r.example_5000.cert.pem": "text of b",
        "r.example:5000/r.example_5000.key.pem": "text of c",
        "r.example:5000/hosts.toml":
          'server = "https://r.example:5000"\n\n[host."https://r.example:5000"]\n  capabilities = ["pull", "resolve", "push"]\n  ca = ["r.example_5000.ca.pem"]\n  client = [["r.example_5000.cert.pem", "r.example_5000.key.pem"]]\n',
      },
    ],
    [
      "a mirror that is not verified",
      'mirrors: { a.example: { endpoint: ["https://m.example"] } }\nconfigs: { m.example: { tls: { insecure_skip_verify: true } } }',
      {
        "a.example/hosts.toml":
          '[host."https://m.example"]\n  capabilities = ["pull", "resolve"]\n  skip_verify = true\n',
        "m.example/hosts.toml":
          'server = "https://m.example"\n\n[host."https://m.example"]\n  capabilities = ["pull", "resolve", "push"]\n  skip_verify = true\n',
      },
    ],
    [
      "a rewrite leads to the proxy",
      'mirrors: { a.example: { endpoint: ["https://m.example"], rewrite: { "^x/(.*)": "y/$1" } } }',
      {
        "a.example/hosts.toml":
          '[host."http://10.0.0.1:3128/r/a.example/0/v2"]\n  capabilities = ["pull", "resolve"]\n  override_path = true\n',
      },
    ],
  ])("%s, as containerd has it", (_, text, want) => expect(files(text)).toEqual(want));

  const auth = "auth: { username: u, password: p }";
  it.each<[string, string, object[]]>([
    ["of a registry", `configs: { r.example: { ${auth} } }`, [{ registry: "r.example", server: "https://r.example" }]],
    [
      "of Docker Hub",
      `configs: { docker.io: { ${auth} } }`,
      [{ registry: "docker.io", server: "https://registry-1.docker.io" }],
    ],
    ["of all", `configs: { "*": { ${auth} } }`, [{ registry: "*", server: "" }]],
    [
      "of a mirror, sent to it alone",
      `mirrors: { a.example: { endpoint: ["https://m.example:5000/x"] } }\nconfigs: { m.example:5000: { ${auth} } }`,
      [
        { registry: "a.example", server: "https://m.example:5000" },
        { registry: "m.example:5000", server: "https://m.example:5000" },
      ],
    ],
    [
      "of a mirror with a rewrite, sent to the proxy",
      `mirrors: { a.example: { endpoint: ["https://m.example"], rewrite: { a: b } } }\nconfigs: { m.example: { ${auth} } }`,
      [
        { registry: "a.example", server: "http://10.0.0.1:3128/r/a.example/0/v2" },
        { registry: "m.example", server: "https://m.example" },
      ],
    ],
  ])("credentials %s", (_, text, want) =>
    expect(compiled(text).credentials).toEqual(want.map((each) => ({ ...each, username: "u", password: "p" }))),
  );

  it("credentials in base64 are the same", () =>
    expect(compiled(`configs: { r.example: { auth: { auth: ${btoa("u:p:q")} } } }`).credentials).toMatchObject([
      { username: "u", password: "p:q" },
    ]));

  it.each<[string, [string, string][], string]>([
    ["library/busybox", [["^library/(.*)", "hub/$1"]], "hub/busybox"],
    ["library/busybox", [["^library/(.*)", `hub/$${"{1}"}-x`]], "hub/busybox-x"],
    [
      "library/busybox",
      [
        ["^other/(.*)", "no/$1"],
        ["busybox", "box"],
      ],
      "library/box",
    ],
    ["library/busybox", [["^other/(.*)", "no/$1"]], "library/busybox"],
  ])("%s by %j is %s", (repository, rewrites, want) =>
    expect(
      rewrittenRepository(
        repository,
        rewrites.map(([pattern, replacement]) => ({ pattern, replacement })),
      ),
    ).toBe(want),
  );

  it("the example of docs/guides/images.md is valid", () => {
    const page = readFileSync(join(import.meta.dirname, "../../../docs/guides/images.md"), "utf8");
    const [, example = ""] = /^```yaml\n(.*?)^```$/ms.exec(page) ?? [];
    expect(compiled(example).credentials.map(({ registry }) => registry)).toContain("registry.example.com");
  });

  it("names the file in errors, also a missing certificate; paths start at its folder", () => {
    const dir = mkdtempSync(join(tmpdir(), "k8ts-registries-"));
    try {
      const file = join(dir, "registries.yaml");
      expect(loadRegistries(file, "")).toBeUndefined();
      writeFileSync(file, "configs: { a.b: { tls: { ca_file: ca.pem } } }");
      expect(() => loadRegistries(file, "")).toThrow(`${file}: ENOENT`);
      writeFileSync(join(dir, "ca.pem"), "CA");
      expect(loadRegistries(file, "")?.files.get("a.b/a.b.ca.pem")).toBe("CA");
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
