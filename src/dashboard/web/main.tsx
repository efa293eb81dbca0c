/** The page's composition root. */
import { render } from "preact";
import { AutoscalerFigures, AutoscalersContext } from "./api/autoscalers.ts";
import { Collections, CollectionsContext } from "./api/collection.ts";
import { StreamConnection } from "./api/streams.ts";
import { Usage, UsageContext } from "./api/usage.ts";
import { App } from "./app.tsx";
import { Page, PageContext, type Session } from "./page.ts";
import "./style.css";

async function start(root: HTMLElement): Promise<void> {
  const response = await fetch("session");
  if (!response.ok) {
    root.textContent = await response.text();
    return;
  }
  const page = new Page((await response.json()) as Session, localStorage);
  const streams = new StreamConnection(new URL("streams", document.baseURI).href.replace(/^http/, "ws"));
  render(
    <PageContext.Provider value={page}>
      <CollectionsContext.Provider value={new Collections(streams)}>
        <UsageContext.Provider value={new Usage()}>
          <AutoscalersContext.Provider value={new AutoscalerFigures()}>
            <App />
          </AutoscalersContext.Provider>
        </UsageContext.Provider>
      </CollectionsContext.Provider>
    </PageContext.Provider>,
    root,
  );
}

const root = document.getElementById("app");
if (root !== null) {
  start(root).catch((error: unknown) => {
    root.textContent = `The dashboard could not start: ${error instanceof Error ? error.message : error}`;
  });
}
