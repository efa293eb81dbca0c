/** Reads what Secrets of releases contain, once for each revision, a few at a time. */
import { signal } from "@preact/signals";
import { ask, wordsOf } from "../api/request.ts";
import { objectPath, SECRETS } from "../api/resources.ts";
import { chartOf, type Release, type Revision, releaseIn } from "./release.ts";

const AT_A_TIME = 4;

export async function readRelease({ namespace, secret }: Revision, abort: AbortSignal): Promise<Release> {
  const { group, version, plural } = SECRETS;
  const path = objectPath({ group, version, plural, namespace, name: secret });
  return releaseIn(await ask<Parameters<typeof releaseIn>[0]>(path, { signal: abort }));
}

export interface ChartText {
  readonly chart: string;
  readonly app: string;
  /** Why it could not be read. */
  readonly trouble: string;
}

/** The charts of many releases: only their names are kept. */
export class Charts {
  /** Incremented with each chart that was read. */
  readonly version = signal(0);
  readonly #found = new Map<string, ChartText>();

  of(revision: Revision): ChartText | undefined {
    return this.#found.get(keyOf(revision));
  }

  /** Those that are not known yet. */
  async read(revisions: readonly Revision[], abort: AbortSignal): Promise<void> {
    const waiting = revisions.filter((each) => this.of(each) === undefined);
    const next = async () => {
      for (let each = waiting.shift(); each !== undefined && !abort.aborted; each = waiting.shift()) {
        try {
          this.#found.set(keyOf(each), { ...chartOf(await readRelease(each, abort)), trouble: "" });
        } catch (error) {
          if (abort.aborted) return;
          this.#found.set(keyOf(each), { chart: "", app: "", trouble: wordsOf(error) });
        }
        this.version.value += 1;
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, next));
  }
}

export function keyOf({ namespace, secret, resourceVersion }: Revision): string {
  return `${namespace}/${secret}@${resourceVersion}`;
}
