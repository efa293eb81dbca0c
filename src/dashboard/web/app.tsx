/** The frame around all views: navigation, namespace, search, theme, shortcuts. */
import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ClusterView } from "./cluster/view.tsx";
import { CompareView } from "./compare/view.tsx";
import { DevicesView } from "./devices/view.tsx";
import { ForwardsView } from "./forwards/view.tsx";
import { ReleasesView } from "./helm/view.tsx";
import { ImagesView } from "./images/view.tsx";
import { listenForKeys, type Shortcut } from "./keys.ts";
import { usePage } from "./page.ts";
import { ClusterSwitch } from "./parts/cluster-switch.tsx";
import { Leaving } from "./parts/leaving.tsx";
import { Shortcuts } from "./parts/shortcuts.tsx";
import { WhoAmI } from "./parts/who-am-i.tsx";
import { AccessView } from "./views/access.tsx";
import { AutoscalersView } from "./views/autoscalers.tsx";
import { EventsView } from "./views/events.tsx";
import { FlowsView } from "./views/flows.tsx";
import { NodesView } from "./views/nodes.tsx";
import { ObjectView } from "./views/object.tsx";
import { OverviewView } from "./views/overview.tsx";
import { PodsView } from "./views/pods.tsx";
import { ResourcesView } from "./views/resources.tsx";
import { VolumesView } from "./views/volumes.tsx";
import { WorkloadsView } from "./views/workloads.tsx";

interface Entry {
  readonly page: string;
  readonly title: string;
  readonly key: string;
  readonly View: ComponentType;
}

const PAGES: readonly Entry[] = [
  { page: "overview", title: "Overview", key: "o", View: OverviewView },
  { page: "cluster", title: "Cluster", key: "c", View: ClusterView },
  { page: "nodes", title: "Nodes", key: "n", View: NodesView },
  { page: "workloads", title: "Workloads", key: "w", View: WorkloadsView },
  { page: "pods", title: "Pods", key: "p", View: PodsView },
  { page: "autoscalers", title: "Autoscalers", key: "h", View: AutoscalersView },
  { page: "volumes", title: "Volumes", key: "v", View: VolumesView },
  { page: "devices", title: "Devices", key: "u", View: DevicesView },
  { page: "images", title: "Images", key: "i", View: ImagesView },
  { page: "releases", title: "Releases", key: "l", View: ReleasesView },
  { page: "events", title: "Events", key: "e", View: EventsView },
  { page: "flows", title: "Flows", key: "f", View: FlowsView },
  { page: "compare", title: "Compare", key: "m", View: CompareView },
  { page: "access", title: "Access", key: "a", View: AccessView },
  { page: "forwards", title: "Forwards", key: "d", View: ForwardsView },
  { page: "resources", title: "Resources", key: "r", View: ResourcesView },
];

const THEMES = {
  system: { sign: "◐", words: "System" },
  light: { sign: "○", words: "Light" },
  dark: { sign: "●", words: "Dark" },
} as const;

export function App() {
  const page = usePage();
  const main = useRef<HTMLElement>(null);
  const help = useSignal(false);
  const { value: route } = page.route;
  const entry = PAGES.find((each) => each.page === route.page);
  const shortcuts: readonly Shortcut[] = [
    { keys: "/", title: "Search", run: () => focusSearch() },
    ...PAGES.map(({ page: name, title, key }) => ({
      keys: `g ${key}`,
      title,
      run: () => {
        location.hash = `#/${name}`;
      },
    })),
    { keys: "t", title: "Light, dark, or system theme", run: () => page.nextTheme() },
    {
      keys: "?",
      title: "These keys",
      run: () => {
        help.value = !help.value;
      },
    },
  ];
  useEffect(() => listenForKeys(shortcuts), []);
  const title = route.page === "object" && "place" in route ? route.place.name : (entry?.title ?? "Not found");
  useEffect(() => {
    document.title = `${title} · k8ts`;
    // On narrow screens, the navigation scrolls.
    for (const chosen of document.querySelectorAll(".side nav [aria-current], .tabs [aria-current]")) scrollTo(chosen);
  }, [title, "tab" in route ? route.tab : ""]);

  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header class="side">
        <a class="brand" href="#/overview" aria-label="k8ts, overview">
          <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
            <path d="M4 5h6M4 12h16M4 19h11" stroke="currentColor" stroke-width="2.4" stroke-linecap="round" />
            <circle cx="17" cy="5" r="2.6" fill="currentColor" />
          </svg>
          k8ts
        </a>
        <nav aria-label="Pages">
          {PAGES.map(({ page: name, title: text, key }) => (
            <a key={name} href={`#/${name}`} aria-current={route.page === name ? "page" : undefined}>
              <span>{text}</span>
              <kbd>g {key}</kbd>
            </a>
          ))}
        </nav>
        <div class="side-foot">
          <ClusterSwitch />
          <WhoAmI />
          <button type="button" class="quiet" onClick={() => page.nextTheme()} title="Light, dark, or system theme (t)">
            {THEMES[page.theme.value].sign} <span>{THEMES[page.theme.value].words}</span>
          </button>
          <button
            type="button"
            class="quiet"
            onClick={() => {
              help.value = true;
            }}
            aria-label="Keyboard shortcuts"
          >
            ?
          </button>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {entry !== undefined ? (
          <entry.View />
        ) : route.page === "object" && "place" in route ? (
          <ObjectView key={JSON.stringify(route.place)} route={route} />
        ) : (
          <h1>There is no such page</h1>
        )}
      </main>
      <Leaving />
      {help.value && (
        <Shortcuts
          shortcuts={shortcuts}
          onClose={() => {
            help.value = false;
          }}
        />
      )}
    </div>
  );
}

/** Scrolls the row by hand: `scrollIntoView` would make the Tab key continue from there instead of the page's top. */
function scrollTo(element: Element): void {
  const row = element.parentElement;
  if (row === null) return;
  const seen = row.getBoundingClientRect();
  const { left, right } = element.getBoundingClientRect();
  if (left < seen.left) row.scrollLeft -= seen.left - left;
  else if (right > seen.right) row.scrollLeft += right - seen.right;
}

function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("input[type=search]");
  field?.focus();
  field?.select();
}
