/** Two moments of a namespace side by side: what came, went and changed; and one of these objects. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useDiscovered } from "../api/discovery.ts";
import { wordsOf } from "../api/request.ts";
import type { Tone } from "../model/pod.ts";
import { matching } from "../model/table.ts";
import { usePage } from "../page.ts";
import { Head } from "../parts/head.tsx";
import { State } from "../parts/state.tsx";
import { Table, type TableColumn } from "../parts/table.tsx";
import { comparedRoute, type ObjectPlace, objectRoute, placeFrom } from "../route.ts";
import { ChangedView } from "./changed-view.tsx";
import { type Changed, type Comparison, comparison, fieldsText, resourcesToCompare } from "./compare.ts";
import { momentOf } from "./moments.ts";
import { MomentHead, MomentsForm } from "./moments-form.tsx";

const TONES: Readonly<Record<Changed["change"], Tone>> = { added: "good", removed: "bad", changed: "busy" };

function columns(hrefOf: (place: ObjectPlace) => string, withNamespace: boolean): readonly TableColumn<Changed>[] {
  return [
    {
      title: "Change",
      width: "92px",
      key: ({ change }) => change,
      cell: ({ change }) => <State tone={TONES[change]} words={change} />,
    },
    {
      title: "Kind",
      width: "minmax(100px, 1fr)",
      key: ({ kind }) => kind,
      cell: ({ kind }) => <span title={kind}>{kind}</span>,
    },
    {
      title: "Name",
      width: "minmax(110px, 2fr)",
      key: ({ place }) => place.name,
      cell: ({ place }) => (
        <a tabIndex={-1} class="name" href={hrefOf(place)} title={place.name}>
          {place.name}
        </a>
      ),
    },
    ...(withNamespace
      ? [
          {
            title: "Namespace",
            width: "minmax(80px, 1fr)",
            wide: true,
            key: ({ place }: Changed) => place.namespace,
            cell: ({ place }: Changed) => place.namespace,
          },
        ]
      : []),
    {
      title: "Fields",
      width: "minmax(120px, 4fr)",
      wide: true,
      key: ({ fields }) => fieldsText(fields),
      cell: ({ fields }) => (
        <span class="dim" title={fieldsText(fields)}>
          {fieldsText(fields)}
        </span>
      ),
    },
  ];
}

export function CompareView() {
  const page = usePage();
  const route = page.route.value;
  const query = "query" in route ? route.query : new URLSearchParams();
  const [from = "", to = ""] = [query.get("from") ?? "", query.get("to") ?? ""];
  const namespace = page.namespace.value;
  const again = useSignal(0);
  const { found, words, progress } = useComparison(from, to, namespace, again.value);
  const place = placeFrom(query.get("of") ?? "");
  const hrefOf = (of?: ObjectPlace) => comparedRoute({ from, to, namespace, of });
  const compare = (first: string, second: string) => {
    again.value += 1;
    page.ask({ from: first, to: second });
  };
  if (place !== undefined && found !== undefined)
    return (
      <ChangedView
        key={JSON.stringify(place)}
        place={place}
        moments={found.moments}
        back={hrefOf()}
        now={objectRoute(place)}
      />
    );
  const rows = matching(
    found?.changed ?? [],
    page.search.value,
    ({ kind, place: { name, namespace: inside }, change, fields }) =>
      `${kind} ${inside} ${name} ${change} ${fieldsText(fields)}`.toLowerCase(),
  );
  return (
    <section class="fill">
      <Head
        title="Compare"
        count={found === undefined ? undefined : String(found.changed.length)}
        search="Search changes"
      />
      <MomentsForm key={`${from} ${to}`} from={from || "-5m"} to={to || "now"} onCompare={compare} />
      {words !== "" && (
        <p class="notice" role="alert">
          {words}
        </p>
      )}
      {found !== undefined && <Told {...found} />}
      <p class={progress === "" ? "unseen" : "dim"} role="status">
        {progress || (found === undefined ? "" : `${found.changed.length} changes`)}
      </p>
      {found !== undefined && (
        <Table
          label="Changes"
          rows={rows}
          columns={columns(hrefOf, namespace === "")}
          idOf={({ place: { group, plural, namespace: inside, name } }) => `${group}/${plural}/${inside}/${name}`}
          hrefOf={(row) => hrefOf(row.place)}
          order={{ column: 1, descending: false }}
          empty={emptyWords(found)}
        />
      )}
      {found === undefined && words === "" && progress === "" && (
        <p class="empty">
          Choose two moments: what came, went and changed in between is shown here, without what changes all the time.
        </p>
      )}
    </section>
  );
}

function emptyWords({ changed, refused }: Comparison): string {
  if (changed.length > 0) return "No change matches the search.";
  return refused.length > 0 ? "Nothing that you may read has changed." : "Nothing that matters has changed.";
}

function Told({ moments: [before, after], refused }: Comparison) {
  return (
    <>
      <p class="moments-found">
        <MomentHead {...before} /> → <MomentHead {...after} />
      </p>
      {refused.length > 0 && (
        <details class="notice">
          <summary>
            Not compared, for you may not read their past: {refused.length}{" "}
            {refused.length === 1 ? "resource" : "resources"}.
          </summary>
          {refused.map((words) => (
            <p key={words}>{words}</p>
          ))}
        </details>
      )}
    </>
  );
}

/** Nothing happens before two moments are chosen. */
function useComparison(from: string, to: string, namespace: string, again: number) {
  const discovered = useDiscovered();
  const found = useSignal<Comparison | undefined>(undefined);
  const words = useSignal("");
  const progress = useSignal("");
  useEffect(() => {
    if (from === "" || to === "" || discovered === undefined) return undefined;
    const abort = new AbortController();
    const run = async () => {
      words.value = "";
      progress.value = "Comparing …";
      try {
        const moments = [await momentOf(from), await momentOf(to)] as const;
        const resources = resourcesToCompare(discovered, namespace);
        const onProgress = (done: number) => {
          if (!abort.signal.aborted) progress.value = `Comparing … ${done} of ${resources.length} resources`;
        };
        const made = await comparison({ moments, resources, namespace }, onProgress, abort.signal);
        if (!abort.signal.aborted) found.value = made;
      } catch (error) {
        if (abort.signal.aborted) return;
        found.value = undefined;
        words.value = wordsOf(error);
      }
      if (!abort.signal.aborted) progress.value = "";
    };
    void run();
    return () => abort.abort();
  }, [from, to, namespace, again, discovered, found, words, progress]);
  return { found: found.value, words: words.value, progress: progress.value };
}
