/**
 * Writes .tools/api-docs.json, the texts of `kubectl explain` and of table columns, from the Go libraries that Kubernetes publishes, as Debian
 * packages them. Never committed: the sentences are the Kubernetes authors'.
 *
 *     node scripts/api-docs.ts [release, such as 0.36]
 */
import { globSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fetchPackages, fetchSourceFile, type SourceArchive } from "./api-facts/debian.ts";

const PACKAGES = ["golang-k8s-api-dev", "golang-k8s-apimachinery-dev"];
/** The newest of Debian's source archives that has the server's own files: what it says of columns has hardly changed since. */
const SERVER_SOURCES: SourceArchive = {
  path: "pool/main/k/kubernetes/kubernetes_1.20.5+really1.20.2.orig.tar.gz",
  sha256: "b83c0780efb182d928dc63d46488a847f161f04e40a94b96bf5247dd671ecdfc",
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
  writeFileSync(`${target}.new`, JSON.stringify(docs));
  renameSync(`${target}.new`, target);
} finally {
  await rm(work, { recursive: true, force: true });
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

/** Reads `podColumnDefinitions := … { {Name: "Ready", …, Description: "text"}, … }` as the fields of a type `columns.pod`. */
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
