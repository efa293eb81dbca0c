/** One object at two moments: the fields that differ, and its YAML side by side. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useDiscovered } from "../api/discovery.ts";
import { wordsOf } from "../api/request.ts";
import type { KubeObject } from "../api/watched.ts";
import { beside, diff, type Pair } from "../model/diff.ts";
import { plainYaml } from "../model/plain-yaml.ts";
import { SideBySide } from "../parts/side-by-side.tsx";
import type { ObjectPlace } from "../route.ts";
import { type Changed, changesOf, valueText } from "./compare.ts";
import { type Moment, objectAt } from "./moments.ts";
import { MomentHead } from "./moments-form.tsx";

interface Props {
  readonly place: ObjectPlace;
  readonly moments: readonly [Moment, Moment];
  /** Where the list of changes is. */
  readonly back: string;
  /** Where the object is as it is now. */
  readonly now: string;
}

interface Found {
  readonly changed: Changed | undefined;
  readonly exists: readonly [boolean, boolean];
  /** Undefined for Secrets. */
  readonly pairs: readonly Pair[] | undefined;
}

export function ChangedView({ place, moments, back, now }: Props) {
  const found = useSignal<Found | undefined>(undefined);
  const words = useSignal("");
  const [before, after] = moments;
  const known = useDiscovered()?.resources.find(
    ({ group, plural }) => group === place.group && plural === place.plural,
  );
  const kind = known?.kind ?? place.plural;
  useEffect(() => {
    let isShown = true;
    Promise.all([objectAt(place, before.revision), objectAt(place, after.revision)])
      .then(async ([old, young]) => {
        const made = await foundOf(place, old, young);
        if (isShown) found.value = made;
      })
      .catch((error: unknown) => {
        if (isShown) words.value = wordsOf(error);
      });
    return () => {
      isShown = false;
    };
  }, [place, before.revision, after.revision, found, words]);
  const result = found.value;
  const fields = result?.changed?.fields ?? [];
  const heads = [<MomentHead key="before" {...before} />, <MomentHead key="after" {...after} />] as const;
  return (
    <section class="changed">
      <p class="crumbs">
        <a href={back}>Compare</a> / {kind}
        {place.namespace !== "" && ` in ${place.namespace}`}
      </p>
      <div class="head">
        <h1>{place.name}</h1>
        <div class="tools">
          <a class="button" href={now}>
            As it is now
          </a>
        </div>
      </div>
      {words.value !== "" && (
        <p class="notice" role="alert">
          {words.value}
        </p>
      )}
      {result !== undefined && <p class="dim">{sentenceOf(result)}</p>}
      {fields.length > 0 && (
        <table class="plain fields" aria-label="Fields">
          <thead>
            <tr>
              <th>Field</th>
              <th>Before</th>
              <th>After</th>
            </tr>
          </thead>
          <tbody>
            {fields.map(({ path, from, to }) => (
              <tr key={path}>
                <td>
                  <code>{path}</code>
                </td>
                <td class="removed-words">{valueText(from)}</td>
                <td class="added-words">{valueText(to)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {result?.pairs !== undefined && <SideBySide label="Side by side" heads={heads} pairs={result.pairs} />}
    </section>
  );
}

function sentenceOf({ exists: [old, young], changed }: Found): string {
  if (!old && !young) return "It was there at neither moment.";
  if (!old) return "It came in between.";
  if (!young) return "It went in between.";
  if (changed === undefined) return "Nothing that matters has changed.";
  return changed.fields.length === 1 ? "One field differs." : `${changed.fields.length} fields differ.`;
}

/** They say only that there was a write. */
function withoutCounters(object: KubeObject): KubeObject {
  const {
    resourceVersion: _,
    generation: __,
    ...metadata
  } = object.metadata as KubeObject["metadata"] & { generation?: number };
  return { ...object, metadata };
}

async function foundOf(place: ObjectPlace, old: KubeObject | undefined, young: KubeObject | undefined): Promise<Found> {
  const resource = { ...place, kind: "", namespaced: place.namespace !== "" };
  const list = (object: KubeObject | undefined) => (object === undefined ? [] : [object]);
  const [changed] = changesOf(resource, list(old), list(young));
  const exists = [old !== undefined, young !== undefined] as const;
  if (place.group === "" && place.plural === "secrets") return { changed, exists, pairs: undefined };
  const text = (object: KubeObject | undefined) => (object === undefined ? "" : plainYaml(withoutCounters(object)));
  const [before, after] = [await text(old), await text(young)];
  return { changed, exists, pairs: before === after ? undefined : beside(diff(before, after)) };
}
