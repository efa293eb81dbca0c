/**
 * Every STABLE and BETA metric after a scripted minute of work, and Prometheus that scrapes it as docs/observability.md
 * says, with its queries.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canMakeNamespaces } from "../network/namespaces.ts";
import { tool } from "../support/tools.ts";
import { type Family, familiesIn, labelNames } from "./exposition.ts";
import { type ComponentName, declared, METRICS, type MetricRow } from "./kubernetes-metrics.ts";
import { program, promtool, remarksOf } from "./promtool.ts";
import { Site } from "./site.ts";
import { work } from "./work.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const DOCUMENT = readFileSync(join(ROOT, "docs", "observability.md"), "utf8");
const kubectl = tool("kubectl");
const prometheus = program("prometheus");
const isPossible = canMakeNamespaces() && kubectl !== undefined && prometheus !== undefined && promtool !== undefined;

const PAGES: Readonly<Record<Exclude<ComponentName, "kubelet">, readonly string[]>> = {
  apiserver: ["https://127.0.0.1:6443/metrics", "https://127.0.0.1:6443/metrics/slis"],
  "controller-manager": ["https://127.0.0.1:10257/metrics", "https://127.0.0.1:10257/metrics/slis"],
  scheduler: [
    "https://127.0.0.1:10259/metrics",
    "https://127.0.0.1:10259/metrics/slis",
    "https://127.0.0.1:10259/metrics/resources",
  ],
  proxy: ["http://127.0.0.1:10249/metrics", "http://127.0.0.1:10249/metrics/slis"],
};

describe.skipIf(!isPossible)("metrics (needs root, kubectl and Prometheus)", () => {
  const site = new Site(kubectl ?? "");
  let token = "";
  beforeAll(async () => {
    await site.start();
    await site.kubectl("apply", "-f", written("manifest.yaml", block("yaml manifest")));
    token = await site.token("prometheus", "monitoring");
    site.copyAuthority(join(site.dir, "ca.crt"));
    writeFileSync(join(site.dir, "token"), token);
    const config = written(
      "prometheus.yml",
      block("yaml prometheus").replace("scrape_interval: 15s", "scrape_interval: 1s"),
    );
    execFileSync(promtool ?? "", ["check", "config", config]);
    site.run("prometheus", prometheus ?? "", [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(site.dir, "tsdb")}`,
      "--web.listen-address=127.0.0.1:9090",
    ]);
    await work(site);
  }, 300_000);
  afterAll(() => site[Symbol.asyncDispose](), 60_000);

  const written = (name: string, text: string) => {
    const file = join(site.dir, name);
    writeFileSync(file, text);
    return file;
  };
  const texts = async (urls: readonly string[]) => {
    const answers = await site.get(urls, { authorization: `Bearer ${token}` });
    for (const [at, { status, body }] of answers.entries()) if (status !== 200) throw new Error(`${urls[at]}: ${body}`);
    return answers.map(({ body }) => body);
  };
  const query = async (text: string): Promise<readonly unknown[]> => {
    const [answer] = await site.get([`http://127.0.0.1:9090/api/v1/query?query=${encodeURIComponent(text)}`]);
    const { status, data, error } = JSON.parse(answer?.body ?? "{}");
    if (status !== "success") throw new Error(`${text}: ${error}`);
    return data.result;
  };

  describe.each(Object.entries(PAGES))("of the %s", (component, urls) => {
    const rows = METRICS.filter(({ components }) => components.some((each) => each === component));
    it("are all there, with type, level and labels", async () => {
      let missing: readonly string[] = [];
      // Some need a few seconds: files that are followed, evictions, autoscalers.
      const isComplete = async () => {
        const families = familiesIn((await texts(urls)).join(""));
        missing = rows.flatMap((row) => faults(row, families.get(row.name)));
        return missing.length === 0;
      };
      await site.until(`the metrics of ${component}`, isComplete).catch((error: unknown) => {
        if (missing.length === 0) throw error;
      });
      expect(missing).toEqual([]);
    }, 120_000);

    it("please promtool", async () => {
      for (const text of await texts(urls)) expect(remarksOf(text)).toEqual([]);
    });
  });

  it("count changes of the AuthorizationConfiguration, by whether they were valid", async () => {
    const name = "apiserver_authorization_config_controller_automatic_reloads_total";
    const counted = async (status: string) => {
      const families = familiesIn((await texts(["https://127.0.0.1:6443/metrics"])).join(""));
      return families.get(name)?.samples.find(({ labels }) => labels.status === status)?.value ?? 0;
    };
    const before = await counted("success");
    site.configureAuthorization("RBAC", "Node");
    await site.until("the modes are replaced", async () => (await counted("success")) === before + 1);
    site.configureAuthorization("Node");
    await site.until("a change is refused", async () => (await counted("failure")) === 1);
    expect(await counted("success")).toBe(before + 1);
  }, 120_000);

  it("are all of those that Kubernetes documents as STABLE or BETA", () => {
    expect(METRICS.length).toBe(90);
  });

  it("have all targets of the documented configuration up", async () => {
    const down = async () => (await query("up == 0")).length + (await query("scrape_samples_scraped == 0")).length;
    await site.until("targets are up", async () => (await query("up")).length === 9 && (await down()) === 0);
    const jobs = (await query("count by (job) (up)")) as readonly { metric: { job: string } }[];
    expect(jobs.map(({ metric }) => metric.job).sort()).toEqual([
      "kube-apiserver",
      "kube-apiserver-slis",
      "kube-controller-manager",
      "kube-proxy",
      "kube-scheduler",
      "kube-scheduler-resources",
      "kubelet-resource",
    ]);
  }, 120_000);

  it.each(documentedQueries())(
    "answer: %s",
    async (_, text) => {
      await site.until(text, async () => (await query(text)).length > 0);
    },
    120_000,
  );

  it.each([
    ["https://127.0.0.1:6443", "apiserver"],
    ["https://127.0.0.1:10257", "kube-controller-manager"],
    ["https://127.0.0.1:10259", "kube-scheduler"],
    ["http://127.0.0.1:10249", "kube-proxy"],
  ])("%s says what it is, and how it was started: %s", async (base, name) => {
    const viewer = {
      authorization: `Bearer ${await site.kubectl("create", "token", "prometheus", "-n", "monitoring")}`.trim(),
    };
    const isOpen = base.startsWith("http:");
    const refused = await site.get([`${base}/statusz`, `${base}/flagz`], viewer);
    expect(refused.map(({ status }) => status)).toEqual(isOpen ? [200, 200] : [403, 403]);
    const admin = isOpen ? {} : { authorization: `Bearer ${await adminToken(site)}` };
    const [statusz, flagz] = await site.get([`${base}/statusz`, `${base}/flagz`], admin);
    expect(statusz?.body).toContain(`\n${name} statusz\nWarning: `);
    expect(statusz?.body).toMatch(/\nPaths: .*\/healthz.*\/metrics/);
    expect(flagz?.body).toMatch(/\n[a-z-]+=/);
    const accept = "application/json;v=v1beta1;g=config.k8s.io;as=Flagz";
    const [structured] = await site.get([`${base}/flagz`], { ...admin, accept });
    expect(JSON.parse(structured?.body ?? "")).toMatchObject({ kind: "Flagz", metadata: { name } });
    if (name === "apiserver") return;
    const [configz] = await site.get([`${base}/configz`], admin);
    expect(Object.keys(JSON.parse(configz?.body ?? "{}"))).toHaveLength(1);
  });
});

/** What is wrong with a family, in words. */
function faults(row: MetricRow, family: Family | undefined): readonly string[] {
  if (family === undefined) return [`${row.name} is missing`];
  const { type, stability, samples } = family;
  if (type !== row.type) return [`${row.name} is a ${type}, not a ${row.type}`];
  if (stability !== row.stability) return [`${row.name} is ${stability}, not ${row.stability}`];
  const [first] = samples;
  if (first === undefined) return declared.has(row.name) ? [] : [`${row.name} has no samples`];
  const labels = labelNames(first).join(",");
  return labels === row.labels.join(",") ? [] : [`${row.name} has the labels ${labels}, not ${row.labels.join(",")}`];
}

async function adminToken(site: Site): Promise<string> {
  const role = [
    "create",
    "clusterrolebinding",
    "viewer",
    "--clusterrole=cluster-admin",
    "--serviceaccount=monitoring:default",
  ];
  await site.kubectl(...role).catch(() => "");
  return site.token("default", "monitoring");
}

/** A fenced block of the document, by what stands behind its fence. */
function block(kind: string): string {
  const found = new RegExp(`^\`\`\`${kind}\n([\\s\\S]*?)^\`\`\``, "m").exec(DOCUMENT)?.[1];
  if (found === undefined) throw new Error(`docs/observability.md has no block of ${kind}`);
  return found;
}

function documentedQueries(): readonly (readonly [string, string])[] {
  return [...DOCUMENT.matchAll(/^\| ([^|]+) \| `([^`]+)` \|$/gm)]
    .map(([, panel = "", text = ""]) => [panel, text] as const)
    .filter(([, text]) => !text.startsWith("http"));
}
