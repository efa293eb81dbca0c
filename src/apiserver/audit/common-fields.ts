/**
 * Forms of the lines that one user's requests for one topic make: what nobody does differently the next time is put together once.
 *
 * 1. What comes from outside may be of any number: too many forms are all forgotten.
 */
import { MemoMap } from "#base";
import type { RequestInfo } from "../http/request-info.ts";
import { Form } from "./line-template.ts";
import type { Level, Stage } from "./policy.ts";
import { allowedText, codeText, happenedText, member, receivedText, stageText } from "./event-json.ts";

const MAX_FORMS = 100;

/** Where a request comes from, as far as its events tell. */
export interface Origin {
  readonly address: string;
  readonly agent: string;
}

interface Known {
  readonly stage: Stage;
  readonly code: number | undefined;
  readonly reason: string | undefined;
  readonly named: boolean;
  readonly form: Form;
}

export class Usual {
  readonly #level: Level;
  readonly #origin: Origin;
  readonly #start: string;
  /** The target, as far as the name in it. */
  readonly #target: string;
  /** From there to where the name stands, and after it. */
  readonly #before: string;
  readonly #after: string;
  readonly #nameless: string;
  readonly #known = new MemoMap<string, Known>(MAX_FORMS);
  /** The last ones: most requests do as the one before. */
  #received: Known | undefined;
  #answered: Known | undefined;
  #both: Known | undefined;

  /** `start`: what lines begin with. `who`: from the verb to where the object follows. */
  constructor(level: Level, origin: Origin, start: string, who: string, info: RequestInfo) {
    this.#level = level;
    this.#origin = origin;
    this.#start = start;
    const { path, name, resource, namespace, apiGroup, apiVersion, subresource } = info;
    const behind = name === "" || subresource === "" ? "" : `/${subresource}`;
    this.#target = path.slice(0, path.length - behind.length - name.length);
    const before = `${behind}${who},"objectRef":{"resource":"${resource}"${member("namespace", namespace)}`;
    this.#after = `${member("apiGroup", apiGroup)}${member("apiVersion", apiVersion)}${member("subresource", subresource)}}`;
    this.#before = `${before},"name":"`;
    this.#nameless = before;
  }

  isOf(level: Level, address: string, agent: string): boolean {
    return this.#level === level && this.#origin.agent === agent && this.#origin.address === address;
  }

  /** `reason`: why it was allowed; undefined if nobody has said so. */
  form(stage: Stage, code: number | undefined, reason: string | undefined, named: boolean): Form {
    const last = code === undefined ? this.#received : this.#answered;
    if (
      last !== undefined &&
      last.stage === stage &&
      last.code === code &&
      last.named === named &&
      last.reason === reason
    )
      return last.form;
    const known = this.#find(stage, code, reason, named);
    if (code === undefined) this.#received = known;
    else this.#answered = known;
    return known.form;
  }

  /** Both lines of one that was answered at once. */
  both(code: number, reason: string | undefined, named: boolean): Form {
    const last = this.#both;
    if (last !== undefined && last.code === code && last.named === named && last.reason === reason) return last.form;
    const stage = "ResponseComplete";
    const received = this.form("RequestReceived", undefined, undefined, named);
    const form = this.form(stage, code, reason, named).after(received);
    this.#both = { stage, code, reason, named, form };
    return form;
  }

  #find(stage: Stage, code: number | undefined, reason: string | undefined, named: boolean): Known {
    const key = `${stage} ${code} ${named} ${reason === undefined ? "" : `allowed: ${reason}`}`;
    const found = this.#known.get(key);
    if (found !== undefined) return found;
    const status = code === undefined ? "" : codeText(code);
    const form = new Form(
      this.#start,
      stageText(stage) + this.#target,
      named ? this.#before : this.#nameless,
      `${named ? '"' : ""}${this.#after}${status}${receivedText}`,
      happenedText,
      allowedText(reason),
    );
    const known = { stage, code, reason, named, form };
    this.#known.set(key, known);
    return known;
  }
}
