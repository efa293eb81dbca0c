/** Helm's whole cycle with a chart of our own: install, upgrade, rollback, uninstall. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { table } from "./support/table.ts";
import { CommandLine, clusterForFile, tool } from "./support/tools.ts";

const program = tool("helm");
const home = clusterForFile();
const helm = new CommandLine(program, home);
const kubectl = new CommandLine(tool("kubectl"), home);

beforeAll(() => {
  const chart = join(home().dir, "shop");
  mkdirSync(join(chart, "templates"), { recursive: true });
  const files = {
    "Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.2.3\nappVersion: '9'\n",
    "values.yaml": "replicas: 2\n",
    "templates/settings.yaml":
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}-settings'}\ndata: {revision: '{{ .Release.Revision }}'}\n",
    "templates/deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: '{{ .Release.Name }}'}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: '{{ .Release.Name }}'}}
  template:
    metadata: {labels: {app: '{{ .Release.Name }}'}}
    spec: {containers: [{name: web, image: 'nginx:1'}]}
`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(chart, name), text);
});

describe.skipIf(program === undefined)("helm", () => {
  const sides = [
    { release: "front", side: "server", flags: [] },
    { release: "back", side: "client", flags: ["--server-side=false"] },
  ];
  it.each(sides)(
    "installs, upgrades, rolls back and uninstalls, applying on the $side's side",
    async ({ release, flags }) => {
      const deployed = () => kubectl.ok("get", "deploy", release, "-o", "jsonpath={.spec.replicas} {.metadata.labels}");
      const managed = '{"app.kubernetes.io/managed-by":"Helm"}';

      expect(await helm.ok("install", release, "shop", ...flags)).toMatch(
        /^STATUS: deployed\nREVISION: 1\nDESCRIPTION: Install complete$/m,
      );
      expect(await deployed()).toBe(`2 ${managed}`);
      expect(
        await kubectl.ok(
          "get",
          "secret",
          "-l",
          `owner=helm,name=${release}`,
          "--no-headers",
          "-o",
          "custom-columns=N:.metadata.name,T:.type",
        ),
      ).toMatch(new RegExp(`^sh\\.helm\\.release\\.v1\\.${release}\\.v1 +helm\\.sh/release\\.v1\n$`));
      expect(await helm.fails("install", release, "shop")).toContain("cannot reuse a name that is still in use");

      expect(await helm.ok("upgrade", release, "shop", "--set", "replicas=5", ...flags)).toContain(
        `Release "${release}" has been upgraded.`,
      );
      expect(await deployed()).toBe(`5 ${managed}`);
      expect(await helm.ok("get", "manifest", release)).toContain("  replicas: 5\n");
      expect(await helm.ok("get", "values", release)).toBe("USER-SUPPLIED VALUES:\nreplicas: 5\n");

      expect(await helm.ok("rollback", release, "1")).toBe("Rollback was a success! Happy Helming!\n");
      expect(await deployed()).toBe(`2 ${managed}`);
      expect(await kubectl.ok("get", "cm", `${release}-settings`, "-o", "jsonpath={.data}")).toBe('{"revision":"1"}');
      expect(JSON.parse(await helm.ok("history", release, "-o", "json"))).toMatchObject([
        { revision: 1, status: "superseded", description: "Install complete" },
        { revision: 2, status: "superseded", description: "Upgrade complete" },
        { revision: 3, status: "deployed", description: "Rollback to 1" },
      ]);

      expect(await helm.ok("uninstall", release)).toBe(`release "${release}" uninstalled\n`);
      expect(
        await kubectl.ok("get", "deploy,cm,secret", "-l", "app.kubernetes.io/managed-by=Helm", "--ignore-not-found"),
      ).toBe("");
      expect(await kubectl.ok("get", "secret", "-l", "owner=helm", "--ignore-not-found")).toBe("");
    },
  );

  it("lists releases of all namespaces, and makes a namespace", async () => {
    await helm.ok("upgrade", "--install", "far", "shop", "--namespace", "elsewhere", "--create-namespace");
    expect(table(await helm.ok("list", "-A"))[1]).toMatchObject([
      "far",
      "elsewhere",
      "1",
      expect.any(String),
      "deployed",
      "shop-1.2.3",
      "9",
    ]);
    await helm.ok("uninstall", "far", "-n", "elsewhere");
    expect(JSON.parse(await helm.ok("list", "-A", "-o", "json"))).toEqual([]);
  });

  it("renders on the server without a trace", async () => {
    expect(await helm.ok("install", "trial", "shop", "--dry-run=server")).toContain("name: 'trial'");
    expect(await helm.ok("list", "-q")).toBe("");
  });

  it("waits in vain for what never gets ready", async () => {
    expect(await helm.fails("install", "stuck", "shop", "--wait", "--timeout=2s")).toContain(
      "resource Deployment/default/stuck not ready. status: InProgress",
    );
    await helm.ok("uninstall", "stuck");
  });
});
