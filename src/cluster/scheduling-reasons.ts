/** What the scheduler of this process has to say about its decisions. Light: the scheduler itself is loaded later. */
import type { Explanations } from "#scheduler";

/** Where they are served, by the API server or by a scheduler that runs alone. */
export const SCHEDULING = "/k8ts/scheduling";

/** Why Pods are where they are, for those who ask; empty until a scheduler runs here. */
export class SchedulingReasons {
  /** For a request that names the Pod's uid. */
  readonly report = (query: URLSearchParams): object => this.of(query.get("uid") ?? "");
  #explanations: Explanations | undefined;

  use(explanations: Explanations): void {
    this.#explanations = explanations;
  }

  /** Attempts for the Pod with this uid, the oldest first. */
  of(uid: string): object {
    return (this.#explanations?.of(uid) ?? []).map(({ rejections, verdictOn: _, ...rest }) => ({
      ...rest,
      rejections: rejections.map(({ rejection: { plugin, reasons }, nodes }) => ({ plugin, reasons, nodes })),
    }));
  }
}
