/** One release: its revisions, and of the chosen one values, objects, notes, and what it changed. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useDiscovered } from "../api/discovery.ts";
import { wordsOf } from "../api/request.ts";
import type { Resource } from "../api/resources.ts";
import { beside, diff } from "../model/diff.ts";
import { SideBySide } from "../parts/side-by-side.tsx";
import { Age, State } from "../parts/state.tsx";
import { objectRoute, releaseRoute } from "../route.ts";
import { keyOf, readRelease } from "./reader.ts";
import {
  chartOf,
  type Part,
  partsOf,
  type Release,
  type ReleaseHistory,
  type Revision,
  releaseTone,
} from "./release.ts";

interface Written {
  readonly release: Release;
  readonly values: string;
  readonly defaults: string;
  readonly objects: readonly Part[];
}

const PARTS = ["summary", "values", "objects", "changes", "notes"] as const;

interface Props {
  readonly release: ReleaseHistory;
  readonly query: URLSearchParams;
}

export function ReleaseView({ release: { newest, revisions }, query }: Props) {
  const wanted = query.get("revision");
  const chosen = revisions.find(({ revision }) => String(revision) === wanted) ?? newest;
  const before = revisions.find(({ revision }) => revision < chosen.revision);
  const { namespace, name } = newest;
  const part = PARTS.find((each) => each === query.get("of")) ?? "summary";
  const revision = chosen === newest ? undefined : chosen.revision;
  return (
    <>
      <div class="head object-head">
        <div>
          <p class="crumbs">
            <a href="#/releases">Release</a> in {namespace}
          </p>
          <h1>{name}</h1>
        </div>
        <label>
          Revision
          <select
            value={chosen.revision}
            onChange={({ currentTarget }) => {
              location.hash = releaseRoute(namespace, name, Number(currentTarget.value), part);
            }}
          >
            {revisions.map((each) => (
              <option key={each.revision} value={each.revision}>
                {each.revision}, {each.status}
              </option>
            ))}
          </select>
        </label>
      </div>
      <nav class="tabs" aria-label="Parts of this release">
        {PARTS.map((each) => (
          <a
            key={each}
            href={releaseRoute(namespace, name, revision, each)}
            aria-current={each === part ? "page" : undefined}
          >
            {each.charAt(0).toUpperCase() + each.slice(1)}
          </a>
        ))}
      </nav>
      <Contents key={keyOf(chosen)} chosen={chosen} before={before} revisions={revisions} part={part} />
    </>
  );
}

interface ContentsProps {
  readonly chosen: Revision;
  readonly before: Revision | undefined;
  readonly revisions: readonly Revision[];
  readonly part: (typeof PARTS)[number];
}

function Contents({ chosen, before, revisions, part }: ContentsProps) {
  const { found, words } = useWritten(chosen);
  if (words !== "")
    return (
      <p class="notice" role="alert">
        {words}
      </p>
    );
  if (found === undefined) return <p class="dim">Loading …</p>;
  if (part === "values") return <Values {...found} />;
  if (part === "objects") return <Objects objects={found.objects} />;
  if (part === "notes") return <Text label="Notes" text={found.release.info?.notes ?? ""} empty="It has no notes." />;
  if (part === "changes") return <Changes found={found} before={before} />;
  return <Summary found={found} chosen={chosen} revisions={revisions} />;
}

function useWritten(revision: Revision | undefined) {
  const found = useSignal<Written | undefined>(undefined);
  const words = useSignal("");
  const key = revision === undefined ? "" : keyOf(revision);
  useEffect(() => {
    if (revision === undefined) return undefined;
    const abort = new AbortController();
    written(revision, abort.signal).then(
      (each) => {
        found.value = each;
      },
      (error: unknown) => {
        if (!abort.signal.aborted) words.value = wordsOf(error);
      },
    );
    return () => abort.abort();
  }, [key, found, words]);
  return { found: found.value, words: words.value };
}

async function written(revision: Revision, abort: AbortSignal): Promise<Written> {
  const [release, { parseAllDocuments, stringify }] = await Promise.all([readRelease(revision, abort), import("yaml")]);
  const text = (value: object | null | undefined) =>
    Object.keys(value ?? {}).length === 0 ? "" : stringify(value, { lineWidth: 0 });
  const documents = parseAllDocuments(release.manifest ?? "", { logLevel: "silent" });
  const values = "empty" in documents ? [] : documents.map((each) => (each.errors.length > 0 ? null : each.toJS()));
  return {
    release,
    values: text(release.config),
    defaults: text(release.chart?.values),
    objects: partsOf(values, release.namespace),
  };
}

function Summary({
  found: { release },
  chosen,
  revisions,
}: { found: Written } & Omit<ContentsProps, "before" | "part">) {
  const { chart, app } = chartOf(release);
  const { info, chart: { metadata } = {} } = release;
  const facts = [
    ["Chart", chart],
    ["App version", app],
    ["About", metadata?.description ?? ""],
    ["Outcome", info?.description ?? ""],
    ["First deployed", info?.first_deployed ?? ""],
    ["Last deployed", info?.last_deployed ?? ""],
  ].filter(([, value]) => value !== "");
  return (
    <div class="summary">
      <dl class="facts">
        <div>
          <dt>Status</dt>
          <dd>
            <State tone={releaseTone(chosen.status)} words={chosen.status} />
          </dd>
        </div>
        {facts.map(([title, value]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h2>
        Revisions <span class="count">{revisions.length}</span>
      </h2>
      <table class="plain" aria-label="Revisions">
        <thead>
          <tr>
            <th>Revision</th>
            <th>Status</th>
            <th class="num">Changed</th>
          </tr>
        </thead>
        <tbody>
          {revisions.map(({ namespace, name, revision, status, changed }) => (
            <tr key={revision}>
              <td>
                <a class="name" href={releaseRoute(namespace, name, revision, "changes")}>
                  {revision}
                </a>
              </td>
              <td>
                <State tone={releaseTone(status)} words={status} />
              </td>
              <td class="num">
                <Age since={changed} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Values({ values, defaults }: Written) {
  return (
    <div class="summary">
      <Text label="Values of the user" text={values} empty="All values are the chart's own." />
      <details class="section">
        <summary class="sentence">The chart's own values</summary>
        <Text label="Values of the chart" text={defaults} empty="The chart has none." />
      </details>
    </div>
  );
}

function Text({ label, text, empty }: { readonly label: string; readonly text: string; readonly empty: string }) {
  if (text.trim() === "") return <p class="dim">{empty}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="text" tabIndex={0} aria-label={label}>
      <pre>{text}</pre>
    </section>
  );
}

function Objects({ objects }: { readonly objects: readonly Part[] }) {
  const resources = useDiscovered()?.resources ?? [];
  if (objects.length === 0) return <p class="dim">It has no objects.</p>;
  return (
    <div class="summary">
      <table class="plain" aria-label="Objects">
        <thead>
          <tr>
            <th>Kind</th>
            <th>Name</th>
            <th class="wide">API</th>
          </tr>
        </thead>
        <tbody>
          {objects.map((each) => {
            const place = placeOfPart(each, resources);
            return (
              <tr key={`${each.apiVersion}/${each.kind}/${each.namespace}/${each.name}`}>
                <td>{each.kind}</td>
                <td>{place === undefined ? each.name : <a href={objectRoute(place)}>{each.name}</a>}</td>
                <td class="wide dim">{each.apiVersion}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** Undefined: the server has no such kind. */
function placeOfPart({ apiVersion, kind, namespace, name }: Part, resources: readonly Resource[]) {
  const group = apiVersion.includes("/") ? (apiVersion.split("/", 1)[0] ?? "") : "";
  const found = resources.find((each) => each.kind === kind && each.group === group);
  return found === undefined ? undefined : { ...found, namespace: found.namespaced ? namespace : "", name };
}

function Changes({ found, before }: { readonly found: Written; readonly before: Revision | undefined }) {
  const { found: old, words } = useWritten(before);
  if (before === undefined) return <p class="dim">There is no revision before this one any more.</p>;
  if (words !== "") return <p class="notice">{words}</p>;
  if (old === undefined) return <p class="dim">Loading …</p>;
  const texts = [
    ["Values", old.values, found.values],
    ["Manifest", old.release.manifest ?? "", found.release.manifest ?? ""],
  ] as const;
  const heads = [`Revision ${before.revision}`, `Revision ${found.release.version}`] as const;
  return (
    <div class="summary">
      {texts.map(([title, from, to]) => (
        <div key={title}>
          <h2>{title}</h2>
          {from === to ? (
            <p class="dim">The same in both.</p>
          ) : (
            <SideBySide label={`${title}, side by side`} heads={heads} pairs={beside(diff(from, to))} />
          )}
        </div>
      ))}
    </div>
  );
}
