/** The string form of label selectors: `app=web,tier in (front, back),!canary,size>3`. */
import { aggregate, fieldErrorText } from "../errors/field-error.ts";
import { at } from "../errors/field-path.ts";
import {
  everything,
  type LabelMatcher,
  type LabelOperator,
  type LabelRequirement,
  LabelSelectorError,
  labelKeyErrors,
  matcherOf,
  requirement,
} from "./labels.ts";

type Token = "word" | "end" | "," | "!" | "(" | ")" | "=" | "==" | "!=" | ">" | "<" | "in" | "notin" | "error";

interface Scanned {
  readonly token: Token;
  readonly text: string;
}

const symbols: ReadonlySet<string> = new Set([")", ",", "!", "==", "=", ">", "<", "!=", "("]);
const operators: Readonly<Partial<Record<Token, LabelOperator>>> = {
  in: "in",
  notin: "notin",
  "=": "=",
  "==": "==",
  "!=": "!=",
  ">": "gt",
  "<": "lt",
};

export function parseLabelSelector(text: string): LabelMatcher {
  if (text === "") return everything;
  const parser = new Parser(scan(text));
  const requirements = parser.requirements();
  return requirements.length === 0 ? everything : matcherOf(requirements);
}

/** A word runs to the next blank or symbol; of symbols the longest one is taken. */
function scan(text: string): readonly Scanned[] {
  const items: Scanned[] = [];
  for (const match of text.matchAll(/[=!(),><]+|[^=!(),><\t\r\n ]+/g)) {
    let rest = match[0];
    if (!/^[=!(),><]/.test(rest)) {
      items.push({ token: rest === "in" || rest === "notin" ? rest : "word", text: rest });
      continue;
    }
    while (rest !== "") {
      const symbol = symbols.has(rest.slice(0, 2)) && rest.length > 1 ? rest.slice(0, 2) : rest.slice(0, 1);
      items.push({ token: symbol as Token, text: symbol });
      rest = rest.slice(symbol.length);
    }
  }
  items.push({ token: "end", text: "" });
  return items;
}

class Parser {
  readonly #items: readonly Scanned[];
  #position = 0;

  constructor(items: readonly Scanned[]) {
    this.#items = items;
  }

  requirements(): readonly LabelRequirement[] {
    const found: LabelRequirement[] = [];
    for (;;) {
      const { token, text } = this.#peek();
      if (token === "end") return found;
      if (token !== "word" && token !== "!") fail(`found '${text}', expected: !, identifier, or 'end of string'`);
      found.push(this.#requirement());
      const after = this.#take();
      if (after.token === "end") return found;
      if (after.token !== ",") fail(`found '${after.text}', expected: ',' or 'end of string'`);
      const next = this.#peek();
      if (next.token !== "word" && next.token !== "!") fail(`found '${next.text}', expected: identifier after ','`);
    }
  }

  #requirement(): LabelRequirement {
    try {
      return this.#keyOperatorValues();
    } catch (error) {
      if (error instanceof LabelSelectorError) fail(`unable to parse requirement: ${error.message}`);
      throw error;
    }
  }

  #keyOperatorValues(): LabelRequirement {
    let key = this.#take();
    const negated = key.token === "!";
    if (negated) key = this.#take();
    if (key.token !== "word") fail(`found '${key.text}', expected: identifier`);
    const wrong = labelKeyErrors(key.text, at());
    if (wrong.length > 0) fail(aggregate(wrong.map(fieldErrorText)));
    const { token } = this.#peek();
    if (negated) return requirement(key.text, "!", []);
    if (token === "end" || token === ",") return requirement(key.text, "exists", []);
    const operator = this.#operator();
    const values = operator === "in" || operator === "notin" ? this.#list() : [this.#exactValue()];
    return requirement(key.text, operator, [...new Set(values)].sort());
  }

  #operator(): LabelOperator {
    const item = this.#items[this.#position++];
    const operator = item === undefined ? undefined : operators[item.token];
    return operator ?? fail(`found '${item?.text ?? ""}', expected: in, notin, =, ==, !=, gt, lt`);
  }

  #list(): readonly string[] {
    const open = this.#take();
    if (open.token !== "(") fail(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.token === ")") {
      this.#take();
      return [];
    }
    if (first.token !== "word" && first.token !== ",") fail(`found '${first.text}', expected: ',', ')' or identifier`);
    const values = this.#values();
    const close = this.#take();
    if (close.token !== ")") fail(`found '${close.text}', expected: ')'`);
    return values;
  }

  /** A comma with nothing on one side stands for the empty value. */
  #values(): readonly string[] {
    const values: string[] = [];
    for (;;) {
      const item = this.#take();
      const next = this.#peek();
      if (item.token === "word") {
        values.push(item.text);
        if (next.token === ")") return values;
        if (next.token !== ",") fail(`found '${next.text}', expected: ',' or ')'`);
      } else if (item.token === ",") {
        if (values.length === 0) values.push("");
        if (next.token === ")") return [...values, ""];
        if (next.token === ",") {
          this.#take();
          values.push("");
        }
      } else {
        fail(`found '${item.text}', expected: ',', or identifier`);
      }
    }
  }

  #exactValue(): string {
    const { token } = this.#peek();
    if (token === "end" || token === ",") return "";
    const item = this.#take();
    return item.token === "word" ? item.text : fail(`found '${item.text}', expected: identifier`);
  }

  /** `in` and `notin` are ordinary words, except where an operator is expected. */
  #peek(): Scanned {
    const item = this.#items[this.#position] ?? { token: "end", text: "" };
    return item.token === "in" || item.token === "notin" ? { token: "word", text: item.text } : item;
  }

  #take(): Scanned {
    const item = this.#peek();
    this.#position++;
    return item;
  }
}

function fail(message: string): never {
  throw new LabelSelectorError(message);
}
