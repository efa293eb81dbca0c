/** An object at two moments of the past, side by side. */
import { useSignal } from "@preact/signals";
import { ask, Refused, wordsOf } from "../api/request.ts";
import { objectPath } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import { beside, diff, type Pair } from "../model/diff.ts";
import { plainYaml } from "../model/plain-yaml.ts";
import { SideBySide } from "../parts/side-by-side.tsx";
import type { ObjectPlace } from "../route.ts";

interface Moment {
  readonly revision: number;
  readonly time?: string;
}

interface Compared {
  readonly moments: readonly [Moment, Moment];
  readonly pairs: readonly Pair[];
}

export function PastTab({ place }: { readonly place: ObjectPlace }) {
  const from = useSignal("-5m");
  const to = useSignal("0s");
  const words = useSignal("");
  const found = useSignal<Compared | undefined>(undefined);
  const compare = async () => {
    words.value = "";
    try {
      found.value = await compared(place, from.value, to.value);
    } catch (error) {
      found.value = undefined;
      words.value = wordsOf(error);
    }
  };
  const result = found.value;
  return (
    <div class="past">
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault();
          void compare();
        }}
      >
        <label>
          From
          <input
            size={22}
            value={from.value}
            onInput={({ currentTarget }) => {
              from.value = currentTarget.value;
            }}
          />
        </label>
        <label>
          to
          <input
            size={22}
            value={to.value}
            onInput={({ currentTarget }) => {
              to.value = currentTarget.value;
            }}
          />
        </label>
        <button type="submit" class="primary">
          Compare
        </button>
        <span class="dim">An age (-5m), a time (2026-01-31T12:00:00Z) or a revision (1041).</span>
      </form>
      {words.value !== "" && (
        <p class="notice" role="alert">
          {words.value}
        </p>
      )}
      {result !== undefined && <Beside {...result} />}
    </div>
  );
}

function Beside({ moments, pairs }: Compared) {
  if (!pairs.some(({ isChanged }) => isChanged)) return <p class="dim">It was the same at both moments.</p>;
  const head = ({ revision, time }: Moment) => (
    <>
      Revision {revision} <span class="dim">{time}</span>
    </>
  );
  return <SideBySide label="Side by side" heads={[head(moments[0]), head(moments[1])]} pairs={pairs} />;
}

async function compared(place: ObjectPlace, from: string, to: string): Promise<Compared> {
  const [before, after] = await Promise.all([momentOf(from), momentOf(to)]);
  const [old, young] = await Promise.all([before, after].map(({ revision }) => textAt(place, revision)));
  return { moments: [before, after], pairs: beside(diff(old ?? "", young ?? "")) };
}

function momentOf(text: string): Promise<Moment> {
  return ask<Moment>(`/k8ts/history?at=${encodeURIComponent(text.trim())}`);
}

/** Empty: it did not exist. */
async function textAt(place: ObjectPlace, revision: number): Promise<string> {
  try {
    return await plainYaml(await ask<KubeObject>(`/k8ts/at/${revision}${objectPath(place)}`));
  } catch (error) {
    if (error instanceof Refused && error.code === 404) return "";
    throw error;
  }
}
