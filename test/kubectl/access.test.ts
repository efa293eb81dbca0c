/** Who one is, what one may do, and roles as kubectl brings them about. */
import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makeRequest } from "../../src/pki/testing/request.ts";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

const program = tool("kubectl");
const home = clusterForFile();
const kubectl = new CommandLine(program, home);

describe.skipIf(program === undefined)("kubectl auth", () => {
  it("whoami", async () => {
    expect(await kubectl.ok("auth", "whoami")).toMatch(
      /^ATTRIBUTE +VALUE\nUsername +kubernetes-admin\nGroups +\[system:masters system:authenticated\]\n/,
    );
  });

  it("can-i", async () => {
    expect(await kubectl.ok("auth", "can-i", "delete", "nodes")).toBe("yes\n");
    expect(await kubectl.ok("auth", "can-i", "--list")).toMatch(/^\*\.\* +\[\] +\[\] +\[\*\]$/m);
  });

  it("reconcile adds what a role lacks and keeps what it has more", async () => {
    const role = (...verbs: string[]) => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name: "grown", namespace: "default" },
      rules: [{ apiGroups: [""], resources: ["pods"], verbs }],
    });
    const reconcile = (...verbs: string[]) => kubectl.given(role(...verbs)).ok("auth", "reconcile", "-f", "-");
    expect(await reconcile("get")).toMatch(/^role\.rbac\.authorization\.k8s\.io\/grown reconciled\n/);
    await reconcile("list");
    expect(await kubectl.ok("get", "role", "grown", "-o", "jsonpath={.rules[*].verbs}")).toBe('["get"] ["list"]');
  });
});

describe.skipIf(program === undefined)("kubectl --as somebody", () => {
  const asJane = (...args: string[]) => kubectl.run(...args, "--as", "jane");
  const grant = async (name: string, verbs: string, resource: string) => {
    await kubectl.ok("create", "role", name, `--verb=${verbs}`, `--resource=${resource}`);
    await kubectl.ok("create", "rolebinding", name, `--role=${name}`, "--user=jane");
  };

  it("may do what a role gives, as soon as it is bound", async () => {
    expect(await kubectl.fails("get", "pods", "--as", "jane")).toBe(
      'Error from server (Forbidden): pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"\n',
    );
    await grant("reads-pods", "get,list", "pods");
    expect(await asJane("get", "pods")).toMatchObject({ code: 0 });
    expect(await asJane("get", "pods", "-A")).toMatchObject({ code: 1 });
    expect(await asJane("delete", "pod", "x")).toMatchObject({ code: 1 });
    await kubectl.ok("delete", "rolebinding", "reads-pods");
    expect(await asJane("get", "pods")).toMatchObject({ code: 1 });
  });

  it("is told what that is", async () => {
    await grant("reads-services", "get,list", "services");
    const can = async (...args: string[]) => (await asJane("auth", "can-i", ...args)).stdout;
    expect([await can("list", "services"), await can("list", "services", "-A"), await can("get", "/metrics")]).toEqual([
      "yes\n",
      "no\n",
      "no\n",
    ]);
    const list = await can("--list");
    expect(list).toMatch(/^services +\[\] +\[\] +\[get list\]$/m);
    expect(list).toMatch(/^selfsubjectaccessreviews\.authorization\.k8s\.io +\[\] +\[\] +\[create\]$/m);
    expect(list).toMatch(/^ +\[\/version\] +\[\] +\[get\]$/m);
    expect(list).not.toMatch(/^\*\.\*/m);
  });

  it("works with the roles that every cluster has", async () => {
    await kubectl.ok("create", "namespace", "team");
    await kubectl.ok("create", "rolebinding", "team", "--clusterrole=edit", "--group=team", "-n", "team");
    const inTeam = (...args: string[]) => kubectl.run(...args, "-n", "team", "--as", "kim", "--as-group", "team");
    expect(await inTeam("create", "configmap", "c")).toMatchObject({ code: 0 });
    expect(await inTeam("create", "role", "r", "--verb=get", "--resource=pods")).toMatchObject({ code: 1 });
  });

  it("hands on no rights that it has not", async () => {
    const roles = "--resource=roles.rbac.authorization.k8s.io";
    await kubectl.ok("create", "clusterrole", "writes-roles", "--verb=get,create", roles);
    await kubectl.ok("create", "clusterrolebinding", "writes-roles", "--clusterrole=writes-roles", "--user=eve");
    expect(await kubectl.fails("create", "role", "r", "--verb=get", "--resource=pods", "--as", "eve")).toBe(
      'Error from server (Forbidden): roles.rbac.authorization.k8s.io "r" is forbidden: user "eve" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["get"]}\n',
    );
  });

  it("reconciles bindings", async () => {
    const binding = (...names: string[]) => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "grown" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: names.map((name) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "User", name })),
    });
    for (const name of ["first", "second"]) await kubectl.given(binding(name)).ok("auth", "reconcile", "-f", "-");
    for (const name of ["first", "second"]) {
      expect(await kubectl.ok("auth", "can-i", "list", "configmaps", "-A", "--as", name)).toBe("yes\n");
    }
  });
});

describe.skipIf(program === undefined)("kubectl certificate", () => {
  const ask = (name: string, user: string) =>
    kubectl
      .given({
        apiVersion: "certificates.k8s.io/v1",
        kind: "CertificateSigningRequest",
        metadata: { name },
        spec: {
          request: Buffer.from(makeRequest({ commonName: user, organizations: ["team"] }).pem).toString("base64"),
          signerName: "kubernetes.io/kube-apiserver-client",
          usages: ["client auth"],
        },
      })
      .ok("create", "-f", "-");

  it("approve: the request is signed, by which its maker is known", async () => {
    await ask("kim", "kim");
    expect(await kubectl.ok("get", "csr", "kim", "--no-headers")).toMatch(/ Pending\n$/);
    expect(await kubectl.ok("certificate", "approve", "kim")).toBe(
      "certificatesigningrequest.certificates.k8s.io/kim approved\n",
    );
    await kubectl.ok("wait", "csr/kim", "--for=jsonpath={.status.certificate}", "--timeout=30s");
    expect(await kubectl.ok("get", "csr", "kim", "--no-headers")).toMatch(/ Approved,Issued\n$/);
    const certificate = await kubectl.ok("get", "csr", "kim", "-o", "jsonpath={.status.certificate}");
    const { subject } = new X509Certificate(Buffer.from(certificate, "base64"));
    expect(subject).toBe("O=team\nCN=kim");
  });

  it("deny", async () => {
    await ask("mallory", "mallory");
    await kubectl.ok("certificate", "deny", "mallory");
    expect(await kubectl.ok("get", "csr", "mallory", "--no-headers")).toMatch(/ Denied\n$/);
    expect(await kubectl.fails("certificate", "approve", "mallory")).toBe(
      'error: certificate signing request "mallory" is already Denied\n',
    );
  });
});
