import { describe, expect, it } from "vitest";
import { AdmissionConfigError } from "../chain/configuration.ts";
import { identities } from "./identities.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const kubeconfig = `
apiVersion: v1
kind: Config
users:
- name: hook.ns.svc
  user: {client-certificate-data: ${base64("CERT")}, client-key: key.pem}
- name: '*.other.svc'
  user: {token: secret}
- name: '*.example.com'
  user: {username: ann, password: pass}
- name: host.example.org:8443
  user: {tokenFile: /run/token}
- name: '*'
  user: {token: anyone}
`;
const files: Readonly<Record<string, string>> = {
  "/etc/hooks/config": kubeconfig,
  "/etc/hooks/key.pem": "KEY",
  "/run/token": "from-file\n",
  "/etc/hooks/current":
    "{users: [{name: me, user: {token: mine}}], contexts: [{name: c, context: {user: me}}], current-context: c}",
};

function read(path: string): string {
  const text = files[path];
  if (text === undefined) throw new Error(`no such file: ${path}`);
  return text;
}

const service = (name: string, namespace: string, port?: number) => ({
  service: { name, namespace, ...(port !== undefined && { port }) },
});

describe("who the server is to a webhook", () => {
  const identityFor = identities({ kubeConfigFile: "/etc/hooks/config" }, read);
  it.each([
    { name: "its own user", config: service("hook", "ns"), want: { cert: "CERT", key: "KEY" } },
    { name: "not on another port", config: service("hook", "ns", 8443), want: { authorization: "Bearer anyone" } },
    { name: "one for a namespace", config: service("a", "other"), want: { authorization: "Bearer secret" } },
    {
      name: "one for a domain",
      config: { url: "https://a.b.example.com/x" },
      want: { authorization: `Basic ${base64("ann:pass")}` },
    },
    {
      name: "one for a port",
      config: { url: "https://host.example.org:8443" },
      want: { authorization: "Bearer from-file" },
    },
    { name: "anyone", config: { url: "https://1.2.3.4" }, want: { authorization: "Bearer anyone" } },
  ])("$name", ({ config, want }) => {
    expect(identityFor(config)).toEqual(want);
  });

  it("is nobody, or that of the current context", () => {
    const config = service("a", "b");
    expect(identities(undefined, read)(config)).toBeUndefined();
    expect(identities({ kubeConfigFile: "/etc/hooks/current" }, read)(config)).toEqual({
      authorization: "Bearer mine",
    });
  });

  it("has to be readable", () => {
    expect(() => identities({ kubeConfigFile: "/nowhere" }, read)).toThrow(AdmissionConfigError);
  });
});
