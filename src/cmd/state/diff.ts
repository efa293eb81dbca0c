/** `k8ts diff A B [resource…]`: the differences between two points in time. */
import { Command } from "commander";
import { type apiextensions, builtIn, type Kind, type KubeObject, parseJson, writeJson } from "#api";
import { type FieldChange, NOISE, type ObjectChange, objectChanges } from "#api/differences";
import { ClusterError, type DataDir } from "#cluster";
import { askServer, bodyText } from "../inspect/ask-server.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { type MomentFound, messageOf, momentOf } from "./moments.ts";

interface DiffOptions extends DataDirOption {
  readonly namespace?: string;
  readonly all?: boolean;
  readonly format: "text" | "json";
}

/** A resource that can be listed. */
interface Listed {
  readonly title: string;
  /** The path before and after the namespace. */
  readonly path: readonly [string, string];
  readonly namespaced: boolean;
  /** Only objects of these names. */
  readonly name?: string;
}

const MAX_FIELDS = 20;
const MAX_VALUE = 60;

export function diffCommand(): Command {
  return new Command("diff")
    .description("show the differences between two points in time: `k8ts diff 5m now deployments`")
    .argument("<a>", "a revision, a time, an age (5m) or now")
    .argument("<b>", "the same")
    .argument(
      "[resources...]",
      "such as pods, deployment/web, widgets.example.com (default: all except events, leases and ipaddresses)",
    )
    .addOption(dataDirOption())
    .option("-n, --namespace <name>", "only this namespace")
    .option(
      "--all",
      "all resources, and fields that are only bookkeeping: times, observed generations, annotations of kubectl",
    )
    .option("--format <form>", "text or json", "text")
    .allowUnknownOption()
    .action(async (a: string, b: string, resources: readonly string[], options: DiffOptions) => {
      const dir = dataDirOf(options);
      const [from, to] = [await momentOf(dir, a), await momentOf(dir, b)];
      const custom = await customResources(dir);
      const wanted =
        resources.length === 0
          ? everything(custom, options.all === true)
          : resources.map((text) => named(text, custom));
      const found: { readonly title: string; readonly changes: readonly ObjectChange[] }[] = [];
      for (const each of wanted) {
        const [before, after] = [await listed(dir, each, from, options), await listed(dir, each, to, options)];
        found.push({ title: each.title, changes: objectChanges(before, after, { bookkeeping: options.all === true }) });
      }
      const changed = found.filter(({ changes }) => changes.length > 0);
      process.stdout.write(
        options.format === "json"
          ? `${writeJson({ from, to, resources: changed }, 2)}\n`
          : [`${momentText(from)} → ${momentText(to)}`, ...changed.flatMap(linesOf), ""].join("\n"),
      );
      if (changed.length === 0 && options.format !== "json") process.stdout.write("No differences.\n");
    });
}

function momentText({ revision, time }: MomentFound): string {
  return time === undefined ? `revision ${revision}` : `revision ${revision} (${time})`;
}

const SIGNS = { added: "+", removed: "-", changed: "~" } as const;

function linesOf({ title, changes }: { readonly title: string; readonly changes: readonly ObjectChange[] }): string[] {
  return changes.flatMap(({ name, change, fields }) => [
    `${SIGNS[change]} ${title} ${name}`,
    ...fields.slice(0, MAX_FIELDS).map(fieldLine),
    ...(fields.length > MAX_FIELDS ? [`    … and ${fields.length - MAX_FIELDS} more`] : []),
  ]);
}

function fieldLine({ path, from, to }: FieldChange): string {
  return `    ${path}: ${valueText(from)} → ${valueText(to)}`;
}

function valueText(value: unknown): string {
  if (value === undefined) return "∅";
  const text = writeJson(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}

async function listed(dir: DataDir, what: Listed, at: MomentFound, { namespace }: DiffOptions): Promise<KubeObject[]> {
  if (namespace !== undefined && !what.namespaced) return [];
  const [base, plural] = what.path;
  const path = namespace === undefined ? `${base}/${plural}` : `${base}/namespaces/${namespace}/${plural}`;
  const response = await askServer(dir, `/k8ts/at/${at.revision}${path}`);
  const body = await bodyText(response);
  if (response.statusCode !== 200) throw new ClusterError(`${messageOf(body)}.`);
  const { items } = parseJson(body) as unknown as { items: KubeObject[] };
  return what.name === undefined ? items : items.filter(({ metadata }) => metadata.name === what.name);
}

function everything(custom: readonly Listed[], withNoise: boolean): Listed[] {
  const kept = builtIn.filter(
    ({ verbs, names }) => verbs.includes("list") && verbs.includes("create") && (withNoise || !NOISE.has(names.plural)),
  );
  // One version of each is enough.
  const own = new Map(kept.map((kind) => [titleOf(kind), ofKind(kind)]));
  return [...own.values(), ...custom];
}

function named(text: string, custom: readonly Listed[]): Listed {
  const [type = "", name] = text.toLowerCase().split("/");
  const kind = builtIn.find(
    (each) =>
      each.verbs.includes("list") &&
      ([each.names.plural, each.names.singular, ...(each.names.shortNames ?? [])].includes(type) ||
        titleOf(each) === type),
  );
  const found = kind === undefined ? custom.find(({ title }) => title === type) : ofKind(kind);
  if (found === undefined)
    throw new ClusterError(`${JSON.stringify(type)} is not a resource; write a custom one as plural.group.`);
  return name === undefined ? found : { ...found, name };
}

function titleOf({ names, group }: Kind): string {
  return group === "" ? names.plural : `${names.plural}.${group}`;
}

function ofKind(kind: Kind): Listed {
  const { group, version, names, scope } = kind;
  const base = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  return { title: titleOf(kind), path: [base, names.plural], namespaced: scope === "Namespaced" };
}

/** Custom resources, as they are defined now. */
async function customResources(dir: DataDir): Promise<Listed[]> {
  const response = await askServer(dir, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
  const body = await bodyText(response);
  if (response.statusCode !== 200) throw new ClusterError(`${messageOf(body)}.`);
  const { items } = JSON.parse(body) as { items: apiextensions.CustomResourceDefinition[] };
  return items.flatMap(({ spec: { group, names, scope, versions } }) => {
    const version = versions.find(({ served }) => served)?.name;
    if (version === undefined) return [];
    const path = [`/apis/${group}/${version}`, names.plural] as const;
    return [{ title: `${names.plural}.${group}`, path, namespaced: scope === "Namespaced" }];
  });
}
