/**
 * Writes .tools/api-docs.json, the texts of `kubectl explain` and of table columns, from Kubernetes' Go libraries as
 * Debian packages them. Columns of newer servers come from recorded responses in the npm package of another project.
 * Never committed: the texts are the Kubernetes authors'.
 *
 *     node scripts/api-docs.ts [release, such as 0.36]
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fetchPackages, fetchSourceFile, type SourceArchive } from "./api-facts/debian.ts";

const PACKAGES = ["golang-k8s-api-dev", "golang-k8s-apimachinery-dev"];
/** The newest of Debian's source archives with the server's own files; texts of columns have hardly changed since. */
const SERVER_SOURCES: SourceArchive = {
  path: "pool/main/k/kubernetes/kubernetes_1.20.5+really1.20.2.orig.tar.gz",
  sha256: "b83c0780efb182d928dc63d46488a847f161f04e40a94b96bf5247dd671ecdfc",
};
/** Responses of a newer server, test data of a user interface: they have the columns that changed since. */
const NEWER_ANSWERS = {
  package: "@rancher/cypress@1.0.11",
  sha512: "GWDbeLnvqLuC2i+jP057ufXbFnMxEPWtLFhyIWbvLBnQemimNEiR74xcV+mp1GhlD2OB70VytJtjiiU6ivMVig==",
  file: "package/e2e/blueprints/nav/k8s-schemas.js",
};
const GO_ROOT = "usr/share/gocode/src";
const target = join(import.meta.dirname, "..", ".tools", "api-docs.json");

/** By type name, then by field; "" is the type itself. */
type Docs = Record<string, Record<string, string>>;

const work = await mkdtemp(join(tmpdir(), "k8ts-api-docs-"));
try {
  await fetchPackages(PACKAGES, process.argv[2] ?? "0.36", work);
  const docs: Docs = {};
  const root = join(work, GO_ROOT);
  for (const file of globSync("k8s.io/**/types_swagger_doc_generated.go", { cwd: root })) {
    Object.assign(docs, readDocs(readFileSync(join(root, file), "utf8"), typePrefix(relative("", file))));
  }
  Object.assign(docs, readColumns(await fetchSourceFile(SERVER_SOURCES, "*/pkg/printers/internalversion/printers.go")));
  if (Object.keys(docs).length === 0) throw new Error("the packages hold no documentation");
  write(docs);
  // Last, because it may fail: without it a few texts are those of an older server.
  write(withNewerColumns(docs, readAnswers(work)));
} finally {
  await rm(work, { recursive: true, force: true });
}

function write(docs: Docs): void {
  writeFileSync(`${target}.new`, JSON.stringify(docs));
  renameSync(`${target}.new`, target);
}

/** k8s.io/api/apps/v1/x.go → io.k8s.api.apps.v1 */
function typePrefix(file: string): string {
  const [, ...folders] = file.split("/").slice(0, -1);
  return `io.k8s.${folders.join(".")}`;
}

/** Reads `var map_Pod = map[string]string{ "field": "text", … }`; Go's strings are JSON's here. */
function readDocs(text: string, prefix: string): Docs {
  const docs: Docs = {};
  for (const [, type = "", body = ""] of text.matchAll(/^var map_(\w+) = map\[string\]string\{\n([\s\S]*?)^\}/gm)) {
    const fields = [...body.matchAll(/^\t("(?:[^"\\]|\\.)*"):\s+("(?:[^"\\]|\\.)*"),$/gm)];
    docs[`${prefix}.${type}`] = Object.fromEntries(
      fields.map(([, name = '""', words = '""']) => [JSON.parse(name), JSON.parse(words)]),
    );
  }
  return docs;
}

/**
 * Reads `podColumnDefinitions := … { {Name: "Ready", …, Description: "text"}, … }` as the fields of a type
 * `columns.pod`.
 */
function readColumns(text: string): Docs {
  const docs: Docs = {};
  for (const [, kind = "", body = ""] of text.matchAll(/^\t(\w+)ColumnDefinitions := .*\{\n([\s\S]*?)^\t\}/gm)) {
    const columns = [...body.matchAll(/Name: ("[^"]*").*Description: ("(?:[^"\\]|\\.)*")\}/g)];
    docs[`columns.${kind}`] = Object.fromEntries(
      columns.map(([, name = '""', words = '""']) => [JSON.parse(name), JSON.parse(words)]),
    );
  }
  return docs;
}

function readAnswers(directory: string): string {
  execFileSync("npm", ["pack", NEWER_ANSWERS.package, "--loglevel=error"], { cwd: directory, stdio: "pipe" });
  const [packed = ""] = globSync("*.tgz", { cwd: directory });
  const bytes = readFileSync(join(directory, packed));
  if (createHash("sha512").update(bytes).digest("base64") !== NEWER_ANSWERS.sha512)
    throw new Error(`${NEWER_ANSWERS.package} has another checksum than it should`);
  return execFileSync("tar", ["-xzO", NEWER_ANSWERS.file], { input: bytes, encoding: "utf8" });
}

/**
 * Reads `columns: [{ name: 'Ready', …, description: 'text' }, …], group: '', kind: 'Pod'`, and uses the texts of known
 * columns.
 */
function withNewerColumns(docs: Docs, answers: string): Docs {
  const newer: Docs = { ...docs };
  const tables = answers.matchAll(/columns: (\[[\s\S]*?\n\s*\]),\s*group: '[^']*',\s*kind: '(\w+)'/g);
  for (const [, columns = "", kind = ""] of tables) {
    const type = `columns.${kind.charAt(0).toLowerCase()}${kind.slice(1)}`;
    const known = newer[type] ?? {};
    const found = columns.matchAll(/name: '([^']*)'[^}]*?description: '([^'\\]*)'/g);
    const texts = [...found].map(([, name = "", text = ""]) => [name, text] as const);
    newer[type] = { ...known, ...Object.fromEntries(texts.filter(([name]) => known[name] !== undefined)) };
  }
  return newer;
}
