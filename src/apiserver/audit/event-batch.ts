/**
 * Events that wait to be handed to the thread that writes them: one text, a line for each entry, and templates that the
 * thread does not know.
 */
import type { LineTemplate, LineValues } from "./line-template.ts";
import { type BatchMessage, entryText, WHOLE_LINE } from "./log-protocol.ts";

export class EventBatch {
  readonly #numbering: TemplateNumbers;
  readonly #templates: (readonly string[])[] = [];
  #entries = "";
  #events = 0;

  constructor(numbering: TemplateNumbers) {
    this.#numbering = numbering;
  }

  get events(): number {
    return this.#events;
  }

  get message(): BatchMessage {
    return { entries: this.#entries, templates: this.#templates };
  }

  addLine(line: string): void {
    this.#events++;
    this.#entries += `${WHOLE_LINE}${line}\n`;
  }

  add(template: LineTemplate, values: LineValues, name: string, atMs: number): void {
    this.#events++;
    this.#entries += entryText(this.#numberOf(template), values, name, atMs);
  }

  #numberOf(template: LineTemplate): number {
    if (template.numbering === this.#numbering) return template.number;
    template.numbering = this.#numbering;
    template.number = this.#numbering.assigned++;
    this.#templates.push(template.texts);
    return template.number;
  }
}

/** The numbers of the templates that the thread knows. */
export class TemplateNumbers {
  assigned = 0;
}
