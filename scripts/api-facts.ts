/**
 * Writes src/api/facts/tables/ from the Go libraries that Kubernetes publishes, as Debian packages them:
 *
 *   node scripts/api-facts.ts [release, such as 0.36]
 *
 * 1. Only facts are taken over (names, numbers, types, markers), never sentences.
 * 2. A package that the archive lacks has its table written by hand; it is left as it is.
 */
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fetchPackages } from "./api-facts/debian.ts";
import { type GoPackage, readGoPackage } from "./api-facts/go.ts";
import { type ProtoMessages, readProto } from "./api-facts/proto.ts";
import { type Sources, writeTable } from "./api-facts/table.ts";

const DEBIAN_PACKAGES = ["golang-k8s-api-dev", "golang-k8s-apimachinery-dev", "golang-k8s-apiextensions-apiserver-dev"];
const GO_ROOT = "usr/share/gocode/src";
const TABLES = fileURLToPath(new URL("../src/api/facts/tables/", import.meta.url));

/**
 * What a default API server serves or speaks: all messages of a package, types that protobuf does not carry, and names
 * for scalars that only other packages use.
 */
const API_PACKAGES: readonly ApiPackage[] = [
  ...[
    "admission/v1",
    "admissionregistration/v1",
    "admissionregistration/v1alpha1",
    "admissionregistration/v1beta1",
    "apidiscovery/v2",
    "apiserverinternal/v1alpha1",
    "apps/v1",
    "authentication/v1",
    "authorization/v1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "certificates/v1",
    "certificates/v1alpha1",
    "certificates/v1beta1",
    "coordination/v1",
    "coordination/v1alpha2",
    "coordination/v1beta1",
    "core/v1",
    "discovery/v1",
    "events/v1",
    "flowcontrol/v1",
    "networking/v1",
    "networking/v1beta1",
    "node/v1",
    "policy/v1",
    "rbac/v1",
    "resource/v1",
    "resource/v1alpha3",
    "resource/v1beta1",
    "resource/v1beta2",
    "scheduling/v1",
    "scheduling/v1alpha2",
    "storage/v1",
    "storage/v1beta1",
    "storagemigration/v1beta1",
  ].map((name) => ({ path: `k8s.io/api/${name}` })),
  { path: "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1" },
  {
    path: "k8s.io/apimachinery/pkg/apis/meta/v1",
    jsonOnly: ["Table", "TableColumnDefinition", "TableRow", "TableRowCondition"],
  },
  { path: "k8s.io/apimachinery/pkg/types", aliases: ["NodeName", "UID"] },
  { path: "k8s.io/apimachinery/pkg/version", jsonOnly: ["Info"] },
];

interface ApiPackage {
  readonly path: string;
  readonly jsonOnly?: readonly string[];
  readonly aliases?: readonly string[];
}

const release = process.argv[2] ?? "0.36";
const work = await mkdtemp(join(tmpdir(), "k8ts-api-facts-"));
try {
  const { fetched, missing } = await fetchPackages(DEBIAN_PACKAGES, release, work);
  if (missing.length > 0) throw new Error(`the archive has no ${release} of ${missing.join(", ")}`);
  const sources = readSources(join(work, GO_ROOT));
  const from = [...new Set(fetched.map((it) => it.version.replace(/-.*$/, "")))].join(", ");
  let bytes = 0;
  for (const { path, jsonOnly = [], aliases = [] } of API_PACKAGES) {
    const text = file(path, writeTable(path, jsonOnly, aliases, sources), from);
    await writeFile(join(TABLES, `${fileName(path)}.ts`), text);
    bytes += text.length;
  }
  await writeFile(join(TABLES, "index.ts"), await index());
  console.log(`${API_PACKAGES.length} tables, ${Math.round(bytes / 1024)} KiB, from ${from}`);
} finally {
  await rm(work, { recursive: true, force: true });
}

function readSources(root: string): Sources {
  const packages = new Map<string, GoPackage>();
  const protos = new Map<string, ProtoMessages>();
  return {
    go: (path) => remembered(packages, path, () => readGoPackage(root, path)),
    proto: (path) =>
      remembered(protos, path, () => {
        const proto = join(root, path, "generated.proto");
        return existsSync(proto) ? readProto(readFileSync(proto, "utf8")) : new Map();
      }),
  };
}

function remembered<T>(known: Map<string, T>, key: string, make: () => T): T {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

/** k8s.io/api/core/v1 → core-v1. */
function fileName(path: string): string {
  return path.split("/").slice(-2).join("-").replace("pkg-", "");
}

/** Lists the tables that are there, those written by hand too. */
async function index(): Promise<string> {
  const names = (await readdir(TABLES)).filter((name) => name !== "index.ts").sort();
  const imports = names.map((name) => `import { ${constantName(name.replace(".ts", ""))} } from "./${name}";`);
  const constants = names.map((name) => `  ${constantName(name.replace(".ts", ""))},`);
  return `/** Written by scripts/api-facts.ts: all tables. */\n${imports.join("\n")}\n\nexport const tables: readonly string[] = [\n${constants.join("\n")}\n];\n`;
}

function constantName(file: string): string {
  return file.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function file(path: string, table: string, from: string): string {
  if (/`|\\|\$\{/.test(table)) throw new Error(`${path}: no room for such characters in a template`);
  const name = constantName(fileName(path));
  return `/** Written by scripts/api-facts.ts from ${path} ${from}: not to be edited. */\nexport const ${name} = \`\n${table}\n\`;\n`;
}
