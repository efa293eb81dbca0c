/** An operator on the engine of Pepr: a class for the kind, a fluent call for each verb, server-side apply for whatever it wants to be. */
import {
  GenericKind,
  K8s,
  kind as kinds,
  RegisterKind,
} from "../../../.tools/operator-frameworks/node_modules/kubernetes-fluent-client/dist/index.js";
import {
  definition,
  finalizer,
  group,
  isSettled,
  kind,
  obituaryOf,
  pageOf,
  plural,
  statusOf,
  version,
} from "./site.mjs";

class Site extends GenericKind {}
RegisterKind(Site, { group, version, kind, plural });

const inTurn = { last: Promise.resolve() };

async function reconcile(site, type) {
  const { name, namespace, deletionTimestamp, finalizers = [] } = site.metadata;
  console.log(`${type} ${name}`);
  if (type === "DELETED") return;
  const mine = K8s(Site).InNamespace(namespace);
  if (deletionTimestamp !== undefined) {
    if (!finalizers.includes(finalizer)) return;
    await K8s(kinds.ConfigMap).Apply(obituaryOf(site));
    await mine.Finalize("remove", finalizer, name);
  } else if (!finalizers.includes(finalizer)) {
    await mine.Finalize("add", finalizer, name);
  } else if (!isSettled(site)) {
    await K8s(kinds.ConfigMap).Apply(pageOf(site));
    await K8s(Site).PatchStatus({ metadata: { name, namespace }, status: statusOf(site) });
  }
}

await K8s(kinds.CustomResourceDefinition).Apply(definition);
const watcher = K8s(Site).Watch((site, type) => {
  inTurn.last = inTurn.last.then(() => reconcile(site, type)).catch((error) => console.error(JSON.stringify(error)));
});
watcher.events.on("connect", () => console.log("watching"));
watcher.events.on("watch_error", (error) => console.error("watch", error));
watcher.events.on("list_error", (error) => console.error("list", error));
process.once("SIGTERM", () => {
  watcher.close();
  process.exit();
});
await watcher.start();
