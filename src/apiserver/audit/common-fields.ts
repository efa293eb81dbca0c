/**
 * The line templates of one user's requests for one topic from one address: the events of such requests differ in
 * little.
 *
 * 1. Reasons may be of any number: beyond a hundred all templates are forgotten.
 */
import { MemoMap } from "#base";
import type { RequestInfo } from "../http/request-info.ts";
import { allowedText, codeText, happenedText, member, receivedText, stageText } from "./event-json.ts";
import { LineTemplate } from "./line-template.ts";
import { type Level, STAGES, type Stage } from "./policy.ts";

const MAX_REASONS = 100;
const MAX_CODE = 1_000;

/** Where a request comes from, as far as its events show. */
export interface Origin {
  readonly address: string;
  readonly agent: string;
}

export class CommonFields {
  readonly #level: Level;
  readonly #origin: Origin;
  readonly #start: string;
  /** The URI up to the name in it. */
  readonly #uri: string;
  /**
   * From there to the name in objectRef; to the end of objectRef's fields before it if there is no name; and after the
   * name.
   */
  readonly #beforeName: string;
  readonly #withoutName: string;
  readonly #afterName: string;
  /** By the reason for which requests were allowed, then by stage, code and whether there is a name. */
  readonly #templates = new MemoMap<string | undefined, Map<number, LineTemplate>>(MAX_REASONS);

  /** `start`: what lines begin with. `who`: from the verb to where objectRef follows. */
  constructor(level: Level, origin: Origin, start: string, who: string, info: RequestInfo) {
    this.#level = level;
    this.#origin = origin;
    this.#start = start;
    const { path, name, resource, namespace, apiGroup, apiVersion, subresource } = info;
    const afterUriName = name === "" || subresource === "" ? "" : `/${subresource}`;
    this.#uri = path.slice(0, path.length - afterUriName.length - name.length);
    this.#withoutName = `${afterUriName}${who},"objectRef":{"resource":"${resource}"${member("namespace", namespace)}`;
    this.#beforeName = `${this.#withoutName},"name":"`;
    this.#afterName = `${member("apiGroup", apiGroup)}${member("apiVersion", apiVersion)}${member("subresource", subresource)}}`;
  }

  matches(level: Level, address: string, agent: string): boolean {
    return this.#level === level && this.#origin.agent === agent && this.#origin.address === address;
  }

  /** `reason`: why the request was allowed; undefined before authorization. */
  template(stage: Stage, code: number | undefined, reason: string | undefined, hasName: boolean): LineTemplate {
    const ofReason = this.#templates.get(reason) ?? new Map<number, LineTemplate>();
    if (ofReason.size === 0) this.#templates.set(reason, ofReason);
    const key = (STAGES.indexOf(stage) * MAX_CODE + (code ?? 0)) * 2 + Number(hasName);
    const known = ofReason.get(key);
    if (known !== undefined) return known;
    const status = code === undefined ? "" : codeText(code);
    const template = new LineTemplate(
      this.#start,
      stageText(stage) + this.#uri,
      hasName ? this.#beforeName : this.#withoutName,
      `${hasName ? '"' : ""}${this.#afterName}${status}${receivedText}`,
      happenedText,
      allowedText(reason),
    );
    ofReason.set(key, template);
    return template;
  }
}
