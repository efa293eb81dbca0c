/** An object at two moments of the past, side by side. */
import { useSignal } from "@preact/signals";
import { wordsOf } from "../api/request.ts";
import { type Moment, momentOf, objectAt } from "../compare/moments.ts";
import { MomentHead, MomentsForm } from "../compare/moments-form.tsx";
import { beside, diff, type Pair } from "../model/diff.ts";
import { plainYaml } from "../model/plain-yaml.ts";
import { SideBySide } from "../parts/side-by-side.tsx";
import type { ObjectPlace } from "../route.ts";

interface Compared {
  readonly moments: readonly [Moment, Moment];
  readonly pairs: readonly Pair[];
}

export function PastTab({ place }: { readonly place: ObjectPlace }) {
  const words = useSignal("");
  const found = useSignal<Compared | undefined>(undefined);
  const compare = async (from: string, to: string) => {
    words.value = "";
    try {
      found.value = await compared(place, from, to);
    } catch (error) {
      found.value = undefined;
      words.value = wordsOf(error);
    }
  };
  const result = found.value;
  return (
    <div class="past">
      <MomentsForm from="-5m" to="now" onCompare={(from, to) => void compare(from, to)} />
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
  const [before, after] = moments;
  const heads = [<MomentHead key="before" {...before} />, <MomentHead key="after" {...after} />] as const;
  return <SideBySide label="Side by side" heads={heads} pairs={pairs} />;
}

async function compared(place: ObjectPlace, from: string, to: string): Promise<Compared> {
  const moments = [await momentOf(from), await momentOf(to)] as const;
  const [old = "", young = ""] = await Promise.all(moments.map(({ revision }) => textAt(place, revision)));
  return { moments, pairs: beside(diff(old, young)) };
}

/** Empty: it did not exist. */
async function textAt(place: ObjectPlace, revision: number): Promise<string> {
  const object = await objectAt(place, revision);
  return object === undefined ? "" : plainYaml(object);
}
