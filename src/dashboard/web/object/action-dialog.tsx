/** Asks before an action: what it takes, what the server says to a dry run of it, and then the button that does it. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { core } from "#api";
import { ask, wordsOf } from "../api/request.ts";
import { type Action, dryRunOf, type Related, type Step } from "../model/actions.ts";
import { Dialog } from "../parts/dialog.tsx";
import { now, sleep } from "../time.ts";

/** While a value is typed. */
const SETTLE_MS = 250;

interface Outcome {
  readonly step: Step;
  /** Undefined: accepted. */
  readonly refusal: string | undefined;
}

interface Tried {
  readonly input: string;
  readonly outcomes: readonly Outcome[];
}

interface Props {
  readonly action: Action;
  readonly subject: string;
  readonly onClose: () => void;
}

export function ActionDialog({ action: given, subject, onClose }: Props) {
  // The object may change while the question stands: what was asked is what is done.
  const action = useMemo(() => given, []);
  const input = useSignal(action.field?.value ?? "");
  const related = useSignal<Related | undefined>(undefined);
  const tried = useSignal<Tried | undefined>(undefined);
  const failure = useSignal("");
  const isBusy = useSignal(false);

  useEffect(() => {
    const abort = new AbortController();
    relatedTo(action, abort.signal).then(
      (found) => {
        related.value = found;
      },
      (error: unknown) => {
        if (!abort.signal.aborted) failure.value = wordsOf(error);
      },
    );
    return () => abort.abort();
  }, [action, related, failure]);

  useEffect(() => {
    const facts = related.value;
    if (facts === undefined) return undefined;
    const abort = new AbortController();
    const asked = input.value;
    void sleep(tried.peek() === undefined ? 0 : SETTLE_MS, abort.signal).then(async () => {
      if (abort.signal.aborted) return;
      const outcomes = await Promise.all(action.plan(asked, facts).map((step) => sent(step, dryRunOf(step))));
      if (!abort.signal.aborted) tried.value = { input: asked, outcomes };
    });
    return () => abort.abort();
  }, [action, input.value, related.value, tried]);

  const act = async () => {
    const steps = tried.value?.outcomes ?? [];
    isBusy.value = true;
    const outcomes: Outcome[] = [];
    // In their order: a node is cordoned before its Pods leave.
    for (const { step } of steps) outcomes.push(await sent(step, step));
    isBusy.value = false;
    if (outcomes.every(({ refusal }) => refusal === undefined)) onClose();
    else tried.value = { input: input.value, outcomes };
  };

  const outcomes = tried.value?.input === input.value ? tried.value.outcomes : undefined;
  const isAccepted =
    outcomes !== undefined && outcomes.length > 0 && outcomes.every((each) => each.refusal === undefined);
  return (
    <Dialog label={`${action.title} ${subject}`} onClose={onClose}>
      <h2>
        {action.title} {subject}
      </h2>
      <p class="dim">{action.explanation}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isAccepted && !isBusy.value) void act();
        }}
      >
        {action.field !== undefined && (
          <label class="field">
            {action.field.label}
            <input
              inputMode={action.field.type === "number" ? "numeric" : "text"}
              value={input.value}
              onInput={({ currentTarget }) => {
                input.value = currentTarget.value;
              }}
            />
          </label>
        )}
        {failure.value !== "" && <p class="notice">{failure.value}</p>}
        <div aria-live="polite">
          {outcomes === undefined ? <p class="dim">Asking the server …</p> : <Outcomes outcomes={outcomes} />}
        </div>
        <div class="tools end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class={action.isDangerous === true ? "danger primary" : "primary"}
            disabled={!isAccepted || isBusy.value}
          >
            {action.verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Outcomes({ outcomes }: { readonly outcomes: readonly Outcome[] }) {
  if (outcomes.length === 0) return <p class="bad-words">There is no such choice.</p>;
  const isAccepted = outcomes.every(({ refusal }) => refusal === undefined);
  return (
    <>
      <p class={isAccepted ? "good-words" : "bad-words"}>
        {isAccepted ? "The server would accept:" : "The server refuses a part:"}
      </p>
      <ul class="steps-list">
        {outcomes.map(({ step, refusal }) => (
          <li key={step.path}>
            {step.words}
            {refusal !== undefined && <span class="detail bad-words">{refusal}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

async function sent(step: Step, { method, path, body, contentType }: Step): Promise<Outcome> {
  try {
    await ask<object>(path, { method, body, ...(contentType !== undefined && { contentType }) });
    return { step, refusal: undefined };
  } catch (error) {
    return { step, refusal: wordsOf(error) };
  }
}

/** Only a drain needs Pods. */
async function relatedTo({ name, needs }: Action, signal: AbortSignal): Promise<Related> {
  const time = new Date(now()).toISOString().replace(/\.\d+Z$/, "Z");
  const node = needs[0]?.name ?? "";
  if (name !== "drain") return { pods: [], now: time };
  const selector = encodeURIComponent(`spec.nodeName=${node}`);
  const { items = [] } = await ask<{ items?: readonly core.Pod[] }>(`/api/v1/pods?fieldSelector=${selector}`, {
    signal,
  });
  return { pods: items, now: time };
}
