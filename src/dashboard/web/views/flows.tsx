/** Live flows: a growing diagram of everything or of one object, with replay. */
import { useComputed } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { ObjectName } from "#flows";
import { useCollections } from "../api/collection.ts";
import { FlowFeed } from "../api/flow-feed.ts";
import { beginnings } from "../model/flow-records.ts";
import { usePage } from "../page.ts";
import { FlowBoard } from "../parts/flow-board.tsx";
import { Head } from "../parts/head.tsx";
import type { ObjectPlace } from "../route.ts";

const EVERYTHING = "";

export function FlowsView() {
  const page = usePage();
  const feed = useFeed();
  const { value: route } = page.route;
  const wanted = "query" in route ? (route.query.get("of") ?? EVERYTHING) : EVERYTHING;
  const found = useComputed(() => {
    void feed.version.value;
    const words = page.search.value.toLowerCase();
    return beginnings(feed.records.all).filter((each) =>
      `${each.resource} ${each.namespace} ${each.name} ${each.actor}`.toLowerCase().includes(words),
    );
  });
  const options = found.value.map((each) => ({
    key: keyOf(each),
    words: `${each.resource.split("/").at(-1)}/${each.name}`,
    hint: each.namespace === "" ? each.actor : `${each.actor} · ${each.namespace}`,
    at: each.at,
  }));
  return (
    <section class="fill">
      <Head title="Flows" search="Search objects" namespaced={false} />
      <div class="flows">
        <nav class="beginnings" aria-label="Where flows began">
          <a href="#/flows" aria-current={wanted === EVERYTHING ? "true" : undefined}>
            Everything
          </a>
          {options.map(({ key, words, hint }) => (
            <a
              key={key}
              href={`#/flows?of=${encodeURIComponent(key)}`}
              aria-current={wanted === key ? "true" : undefined}
            >
              {words}
              <span class="dim">{hint}</span>
            </a>
          ))}
        </nav>
        <select
          class="beginnings-narrow"
          aria-label="Where flows began"
          value={wanted}
          onChange={({ currentTarget: { value } }) => {
            location.hash = value === "" ? "#/flows" : `#/flows?of=${encodeURIComponent(value)}`;
          }}
        >
          <option value="">Everything</option>
          {options.map(({ key, words }) => (
            <option key={key} value={key}>
              {words}
            </option>
          ))}
        </select>
        <FlowBoard key={wanted} feed={feed} object={objectOf(wanted)} />
      </div>
    </section>
  );
}

/** The flow of one object, on its own page. */
export function FlowPanel({ object: { group, plural, namespace, name } }: { readonly object: ObjectPlace }) {
  const feed = useFeed();
  const resource = group === "" ? plural : `${group}/${plural}`;
  const object = useMemo(() => ({ resource, namespace, name }), [resource, namespace, name]);
  return <FlowBoard feed={feed} object={object} />;
}

function useFeed(): FlowFeed {
  const { streams } = useCollections();
  const feed = useMemo(() => new FlowFeed(streams), [streams]);
  useEffect(() => {
    const ending = new AbortController();
    void feed.run(ending.signal);
    return () => ending.abort();
  }, [feed]);
  return feed;
}

function keyOf({ resource, namespace, name }: ObjectName): string {
  return [resource, namespace, name].join(" ");
}

function objectOf(key: string): ObjectName | undefined {
  const [resource, namespace, name] = key.split(" ");
  return resource === undefined || namespace === undefined || name === undefined
    ? undefined
    : { resource, namespace, name };
}
