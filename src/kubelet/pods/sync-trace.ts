/** Spans of one Pod's syncs. The first sync of each version of the Pod continues the trace of its write. */
import type { core } from "#api";
import { revisionOf } from "#client";
import type { Tracer } from "#tracing";

export class SyncTrace {
  readonly #tracer: Tracer | undefined;
  /** The version whose write has been continued. */
  #revision = 0;

  constructor(tracer: Tracer | undefined) {
    this.#tracer = tracer;
  }

  during<T>(pod: core.Pod, sync: () => Promise<T>): Promise<T> {
    if (this.#tracer === undefined) return sync();
    const revision = revisionOf(pod);
    const woken = revision === this.#revision ? [] : [revision];
    this.#revision = revision;
    const { name, namespace, uid } = pod.metadata;
    const attributes = {
      "k8s.pod": `${namespace}/${name}`,
      "k8s.pod.name": name,
      "k8s.pod.uid": uid,
      "k8s.namespace.name": namespace,
    };
    return this.#tracer.during({ name: "syncPod", woken, attributes }, sync);
  }
}
