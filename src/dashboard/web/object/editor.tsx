/**
 * An object as YAML, to read and to edit. A change is first sent as a dry run: the server returns errors by field, or
 * the resulting object. Only then it can be applied, and only unchanged.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ask, Refused, type StatusCause, wordsOf } from "../api/request.ts";
import { objectPath } from "../api/resources.ts";
import type { KubeObject } from "../api/watched.ts";
import { around, type DiffLine, diff } from "../model/diff.ts";
import { plainYaml } from "../model/plain-yaml.ts";
import type { SyntaxFault } from "../model/yaml-line.ts";
import { usePage } from "../page.ts";
import { Dialog } from "../parts/dialog.tsx";
import type { ObjectPlace } from "../route.ts";

type Outcome =
  | { readonly type: "unreadable"; readonly fault: SyntaxFault }
  | { readonly type: "refused"; readonly words: string; readonly causes: readonly StatusCause[] }
  | { readonly type: "tried"; readonly text: string; readonly lines: readonly DiffLine[] }
  | { readonly type: "applied"; readonly resourceVersion: string };

export function EditorTab({ place }: { readonly place: ObjectPlace }) {
  const path = objectPath(place);
  const original = useSignal("");
  const text = useSignal("");
  const failure = useSignal("");
  const outcome = useSignal<Outcome | undefined>(undefined);
  const busy = useSignal(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const page = usePage();
  /** Whether the question before a reload is shown. */
  const asks = useSignal(false);
  useEffect(
    () => () => {
      page.unsaved.value = false;
    },
    [page],
  );

  const load = async () => {
    failure.value = "";
    try {
      const yaml = await plainYaml(await ask<KubeObject>(path));
      original.value = yaml;
      text.value = yaml;
      page.unsaved.value = false;
      outcome.value = undefined;
    } catch (error) {
      failure.value = wordsOf(error);
    }
  };
  useEffect(() => void load(), [path]);

  const send = async (query: string): Promise<KubeObject | undefined> => {
    const { syntaxFault } = await import("../model/yaml-line.ts");
    const fault = syntaxFault(text.value);
    if (fault !== undefined) {
      outcome.value = { type: "unreadable", fault };
      return undefined;
    }
    busy.value = true;
    try {
      const { parse } = await import("yaml");
      const body: unknown = parse(text.value);
      return await ask<KubeObject>(`${path}?fieldManager=k8ts-dashboard&fieldValidation=Strict${query}`, {
        method: "PUT",
        body,
      });
    } catch (error) {
      const causes = error instanceof Refused ? error.causes : [];
      outcome.value = { type: "refused", words: wordsOf(error), causes };
      return undefined;
    } finally {
      busy.value = false;
    }
  };
  const check = async () => {
    const tried = text.value;
    const answer = await send("&dryRun=All");
    if (answer !== undefined)
      outcome.value = { type: "tried", text: tried, lines: diff(original.value, await plainYaml(answer)) };
  };
  const apply = async () => {
    const answer = await send("");
    if (answer === undefined) return;
    outcome.value = { type: "applied", resourceVersion: answer.metadata.resourceVersion ?? "" };
    original.value = await plainYaml(answer);
    text.value = original.value;
    page.unsaved.value = false;
  };
  const jump = async (path: string) => {
    const { lineOf } = await import("../model/yaml-line.ts");
    jumpTo(lineOf(text.value, path));
  };
  const jumpTo = (line: number | undefined) => {
    if (line === undefined || field.current === null) return;
    const start = text.value.split("\n").slice(0, line).join("\n").length + (line === 0 ? 0 : 1);
    field.current.focus();
    field.current.setSelectionRange(
      start,
      text.value.indexOf("\n", start) === -1 ? text.value.length : text.value.indexOf("\n", start),
    );
    field.current.scrollTop = Math.max(0, line * 19 - field.current.clientHeight / 2);
  };

  if (failure.value !== "") return <p class="notice">{failure.value}</p>;
  const result = outcome.value;
  const isChanged = text.value !== original.value;
  const canApply =
    result?.type === "tried" && result.text === text.value && result.lines.some(({ sign }) => sign !== " ");
  return (
    <div class="editor">
      <textarea
        ref={field}
        aria-label="YAML"
        spellcheck={false}
        disabled={original.value === ""}
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          page.unsaved.value = text.value !== original.value;
        }}
        onKeyDown={(event) => {
          if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void check();
        }}
      />
      <div class="editor-side">
        <div class="tools">
          <button type="button" onClick={() => void check()} disabled={!isChanged || busy.value} title="Ctrl+S">
            Check
          </button>
          <button type="button" class="primary" onClick={() => void apply()} disabled={!canApply || busy.value}>
            Apply
          </button>
          <button
            type="button"
            class="quiet"
            disabled={busy.value}
            onClick={() => {
              if (isChanged) asks.value = true;
              else void load();
            }}
          >
            Reload
          </button>
        </div>
        {asks.value && (
          <Dialog
            label="Edits are not applied"
            onClose={() => {
              asks.value = false;
            }}
          >
            <h2>Edits are not applied</h2>
            <p>Reloading the object loses them.</p>
            <form method="dialog" class="tools end">
              <button type="submit" onClick={() => void load()}>
                Discard the edits
              </button>
              <button type="submit" class="primary">
                Keep them
              </button>
            </form>
          </Dialog>
        )}
        <div class="outcome" aria-live="polite">
          {result === undefined && (
            <p class="dim">
              Change the text, then check it: the server tries it without keeping it and shows what would become of it.
            </p>
          )}
          {result?.type === "applied" && <p class="good-words">Applied at revision {result.resourceVersion}.</p>}
          {result?.type === "unreadable" && (
            <div class="refusal">
              <p class="bad-words">This is not valid YAML.</p>
              <button type="button" class="link" onClick={() => jumpTo(result.fault.line)}>
                Line {result.fault.line + 1}
              </button>
              <p>{result.fault.message}</p>
            </div>
          )}
          {result?.type === "refused" && (
            <Refusal words={result.words} causes={result.causes} onJump={(path) => void jump(path)} />
          )}
          {result?.type === "tried" && <Changes lines={result.lines} stale={result.text !== text.value} />}
        </div>
      </div>
    </div>
  );
}

interface RefusalProps {
  readonly words: string;
  readonly causes: readonly StatusCause[];
  readonly onJump: (path: string) => void;
}

function Refusal({ words, causes, onJump }: RefusalProps) {
  return (
    <div class="refusal">
      <p class="bad-words">The server rejected it.</p>
      {causes.length === 0 ? (
        <p>{words}</p>
      ) : (
        <ul>
          {causes.map(({ field = "", message = "" }) => (
            <li key={`${field} ${message}`}>
              <button type="button" class="link" onClick={() => onJump(field)}>
                <code>{field}</code>
              </button>
              <span>{message}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Changes({ lines, stale }: { readonly lines: readonly DiffLine[]; readonly stale: boolean }) {
  if (!lines.some(({ sign }) => sign !== " ")) return <p class="dim">No changes.</p>;
  return (
    <>
      <p>{stale ? "The text has changed since the check: check it again." : "Changes:"}</p>
      <pre class="diff">
        {around(lines).map(({ sign, text }, at) => (
          <span key={at} class={{ "+": "added", "-": "removed", " ": "", "…": "dim" }[sign]}>
            {sign} {text}
          </span>
        ))}
      </pre>
    </>
  );
}
