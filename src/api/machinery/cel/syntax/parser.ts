/**
 * Parses tokens to a tree, with macros expanded.
 *
 * 1. Any text gives either a tree or issues; nothing is thrown.
 * 2. Hostile text ends early: the length, the nesting of expressions and the depth of the tree are limited.
 * 3. Messages are those of cel-go. After a fault nothing is reported until a token fits again.
 */

import { codePoints } from "../values/value.ts";
import type { Entry, Expr, FieldInit } from "./ast.ts";
import {
  argumentStart,
  canStartExpression,
  expressionStart,
  itemStart,
  literals,
  numbers,
  products,
  relations,
  reserved,
  sums,
} from "./grammar.ts";
import { type Token, type TokenType, tokenize } from "./lexer.ts";
import { LiteralFault, literalValue } from "./literal.ts";
import type { Issue } from "./source.ts";
import { listed, TokenCursor } from "./token-cursor.ts";
import { defaultLimits, type Macros, type ParserLimits, TooDeep, TreeBuilder } from "./tree-builder.ts";

export type Parsed =
  | { readonly ok: true; readonly expr: Expr }
  | { readonly ok: false; readonly issues: readonly Issue[] };

export function parse(text: string, macros: Macros, limits: ParserLimits = defaultLimits): Parsed {
  const size = codePoints(text);
  if (size > limits.codePoints) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${limits.codePoints}`;
    return { ok: false, issues: [{ message, offset: undefined }] };
  }
  const { tokens, issues } = tokenize(text);
  const cursor = new TokenCursor(tokens);
  const expr = new Parser(text, cursor, macros, limits).start();
  const all = [...issues, ...cursor.issues];
  return expr !== undefined && all.length === 0 ? { ok: true, expr } : { ok: false, issues: all };
}

class Parser {
  private nesting = 0;
  private readonly text: string;
  private readonly tokens: TokenCursor;
  private readonly tree: TreeBuilder;
  private readonly maxDepth: number;

  constructor(text: string, tokens: TokenCursor, macros: Macros, limits: ParserLimits) {
    this.text = text;
    this.tokens = tokens;
    this.tree = new TreeBuilder(macros, limits.depth, tokens.issues);
    this.maxDepth = limits.depth;
  }

  start(): Expr | undefined {
    try {
      const expr = this.expression();
      this.tokens.expect("<EOF>");
      return expr;
    } catch (error) {
      if (!(error instanceof TooDeep)) throw error;
      this.tokens.issues.push({ message: error.message, offset: undefined });
      return undefined;
    }
  }

  private expression(): Expr {
    if (++this.nesting > this.maxDepth) throw new TooDeep(`expression recursion limit exceeded: ${this.maxDepth}`);
    const condition = this.logical("'||'", "_||_", () => this.logical("'&&'", "_&&_", () => this.relation()));
    const question = this.tokens.accept("'?'");
    let result = condition;
    if (question !== undefined) {
      const yes = this.logical("'||'", "_||_", () => this.logical("'&&'", "_&&_", () => this.relation()));
      this.tokens.expect("':'");
      result = this.tree.call(question.start, "_?_:_", [condition, yes, this.expression()], true);
    }
    this.nesting--;
    return result;
  }

  /** Long chains become balanced trees, so that their depth stays small. */
  private logical(type: TokenType, name: string, operand: () => Expr): Expr {
    const terms = [operand()];
    const offsets: number[] = [];
    for (let operator = this.tokens.accept(type); operator !== undefined; operator = this.tokens.accept(type)) {
      offsets.push(operator.start);
      terms.push(operand());
    }
    const balanced = (low: number, high: number): Expr => {
      const only = terms[low];
      if (low === high && only !== undefined) return only;
      const middle = (low + high + 1) >> 1;
      return this.tree.call(offsets[middle - 1] ?? 0, name, [balanced(low, middle - 1), balanced(middle, high)], false);
    };
    return balanced(0, terms.length - 1);
  }

  private relation(): Expr {
    return this.chain(relations, () => this.chain(sums, () => this.chain(products, () => this.unary())));
  }

  private chain(operators: ReadonlyMap<TokenType, string>, operand: () => Expr): Expr {
    let left = operand();
    for (;;) {
      const operator = this.tokens.peek();
      const name = operators.get(operator.type);
      if (name === undefined) return left;
      this.tokens.advance();
      left = this.tree.call(operator.start, name, [left, operand()], true);
    }
  }

  private unary(): Expr {
    const first = this.tokens.peek();
    if (first.type !== "'!'" && first.type !== "'-'") return this.member();
    if (first.type === "'-'" && numbers.has(this.tokens.peek(1).type)) return this.member();
    let count = 0;
    while (this.tokens.accept(first.type) !== undefined) count++;
    if (first.type === "'-'" && !canStartExpression(this.tokens.peek().type)) {
      // Both readings of a minus, sign and operator, have failed: cel-go reports both.
      this.tokens.fault(`no viable alternative at input '${first.text}'`, this.tokens.peek().start);
      this.tokens.endRecovery();
    }
    const operand = this.member();
    return count % 2 === 0
      ? operand
      : this.tree.call(first.start, first.type === "'!'" ? "!_" : "-_", [operand], false);
  }

  private member(): Expr {
    let expr = this.primary();
    // No member can follow an operand that is none.
    if (this.tokens.recovering) return expr;
    for (;;) {
      const token = this.tokens.peek();
      if (token.type === "'.'") {
        this.tokens.advance();
        const selected = this.selection(token, expr);
        if (selected === undefined) return expr;
        expr = selected;
      } else if (token.type === "'['") {
        this.tokens.advance();
        const optional = this.tokens.accept("'?'") !== undefined;
        const index = this.expression();
        this.tokens.expect("']'");
        expr = this.tree.call(token.start, optional ? "_[?_]" : "_[_]", [expr, index], true);
      } else {
        return expr;
      }
    }
  }

  /** Parses what follows a dot. Undefined if it is invalid. */
  private selection(dot: Token, operand: Expr): Expr | undefined {
    const optional = this.tokens.accept("'?'") !== undefined;
    const name = this.tokens.peek();
    if (name.type !== "IDENTIFIER" && name.type !== "ESC_IDENTIFIER") {
      if (name.type === "'true'" || name.type === "'false'" || name.type === "'null'")
        this.tokens.fault(`mismatched input '${name.text}' expecting IDENTIFIER`, name.start);
      else this.tokens.fault(`no viable alternative at input '${this.text.slice(dot.start, name.end)}'`, name.start);
      return undefined;
    }
    this.tokens.advance();
    if (name.type === "IDENTIFIER" && !optional && this.tokens.peek().type === "'('") {
      const open = this.tokens.advance();
      return this.tree.call(open.start, name.text, this.arguments(), true, operand);
    }
    const field = fieldName(name);
    if (!optional) return this.tree.node({ kind: "select", operand, field, test: false, offset: dot.start }, [operand]);
    const literal: Expr = { kind: "literal", value: field, offset: name.start };
    return this.tree.call(dot.start, "_?._", [operand, literal], true);
  }

  private arguments(): Expr[] {
    const args: Expr[] = [];
    const first = this.tokens.peek();
    if (!canStartExpression(first.type) && first.type !== "')'") {
      args.push(this.noExpression(first, argumentStart));
    } else if (first.type !== "')'") {
      do args.push(this.expression());
      while (this.tokens.accept("','") !== undefined);
    }
    this.tokens.expect("')'");
    return args;
  }

  private primary(): Expr {
    const token = this.tokens.peek();
    if (token.type === "'('") {
      this.tokens.advance();
      const inner = this.expression();
      this.tokens.expect("')'");
      return inner;
    }
    if (token.type === "'['") return this.list();
    if (token.type === "'{'") return this.map();
    if (literals.has(token.type) || (token.type === "'-'" && numbers.has(this.tokens.peek(1).type)))
      return this.literal();
    if (token.type === "IDENTIFIER" || (token.type === "'.'" && this.tokens.peek(1).type === "IDENTIFIER"))
      return this.name();
    return this.noExpression(token, expressionStart);
  }

  private noExpression(token: Token, expected: readonly TokenType[]): Expr {
    if (token.type === "'.'") {
      this.tokens.advance();
      const next = this.tokens.peek();
      this.tokens.fault(`no viable alternative at input '${this.text.slice(token.start, next.end)}'`, next.start);
      return { kind: "literal", value: null, offset: token.start };
    }
    if (token.type !== "<EOF>" && canStartExpression(this.tokens.peek(1).type)) {
      this.tokens.fault(`extraneous input '${token.text}' expecting ${listed(expected)}`, token.start);
      this.tokens.advance();
      return this.unary();
    }
    this.tokens.fault(`mismatched input '${token.text}' expecting ${listed(expected)}`, token.start);
    if (token.type === "ESC_IDENTIFIER") this.tokens.skip();
    return { kind: "literal", value: null, offset: token.start };
  }

  private literal(): Expr {
    const sign = this.tokens.accept("'-'");
    const token = this.tokens.advance();
    const offset = (sign ?? token).start;
    const value = literalValue(token, sign !== undefined);
    if (!(value instanceof LiteralFault)) return { kind: "literal", value, offset };
    this.tokens.issues.push({ message: value.message, offset });
    return { kind: "literal", value: null, offset };
  }

  private name(): Expr {
    const dot = this.tokens.accept("'.'");
    const name = this.tokens.advance();
    const open = this.messageBrace();
    if (open !== undefined) return this.message(dot, name, open);
    const full = (dot === undefined ? "" : ".") + name.text;
    if (reserved.has(name.text)) {
      this.tokens.issues.push({ message: `reserved identifier: ${name.text}`, offset: (dot ?? name).start });
      if (this.tokens.accept("'('") !== undefined) this.arguments();
      return { kind: "literal", value: null, offset: name.start };
    }
    const call = this.tokens.accept("'('");
    if (call !== undefined) return this.tree.call(call.start, full, this.arguments(), false);
    return { kind: "ident", name: full, offset: name.start };
  }

  /** The number of tokens of `.name.name` before a brace, if there is one: then this is a message. */
  private messageBrace(): number | undefined {
    let ahead = 0;
    while (this.tokens.peek(ahead).type === "'.'" && this.tokens.peek(ahead + 1).type === "IDENTIFIER") ahead += 2;
    return this.tokens.peek(ahead).type === "'{'" ? ahead : undefined;
  }

  private message(dot: Token | undefined, first: Token, ahead: number): Expr {
    let type = (dot === undefined ? "" : ".") + first.text;
    for (let index = 0; index < ahead; index++) type += this.tokens.advance().text;
    const open = this.tokens.advance();
    const fields: FieldInit[] = [];
    while (this.tokens.peek().type !== "'}'" && this.tokens.peek().type !== "','") {
      const optional = this.tokens.accept("'?'") !== undefined;
      let name = this.tokens.peek();
      if (name.type !== "IDENTIFIER" && name.type !== "ESC_IDENTIFIER") {
        const expected: TokenType[] = optional
          ? ["IDENTIFIER", "ESC_IDENTIFIER"]
          : ["'}'", "','", "'?'", "IDENTIFIER", "ESC_IDENTIFIER"];
        const next = this.tokens.peek(1);
        if (next.type !== "IDENTIFIER" && next.type !== "ESC_IDENTIFIER") {
          this.tokens.fault(`mismatched input '${name.text}' expecting ${listed(expected)}`, name.start);
          break;
        }
        this.tokens.fault(`extraneous input '${name.text}' expecting ${listed(expected)}`, name.start);
        this.tokens.advance();
        name = next;
      }
      this.tokens.advance();
      const colon = this.tokens.peek();
      this.tokens.expect("':'");
      if (this.tokens.recovering) break;
      fields.push({ name: fieldName(name), value: this.expression(), optional, offset: colon.start });
      if (this.tokens.accept("','") === undefined) break;
    }
    this.closing("'}'");
    return this.tree.node(
      { kind: "struct", type, fields, offset: open.start },
      fields.map(({ value }) => value),
      false,
    );
  }

  private list(): Expr {
    const open = this.tokens.advance();
    const items: Expr[] = [];
    const optional = new Set<number>();
    while (this.tokens.peek().type !== "']'" && this.tokens.peek().type !== "','") {
      if (this.tokens.accept("'?'") !== undefined) optional.add(items.length);
      else if (!canStartExpression(this.tokens.peek().type)) {
        this.noExpression(this.tokens.peek(), itemStart("']'"));
        break;
      }
      items.push(this.expression());
      if (this.tokens.accept("','") === undefined) break;
    }
    this.closing("']'");
    return this.tree.node({ kind: "list", items, optional, offset: open.start }, items, false);
  }

  private map(): Expr {
    const open = this.tokens.advance();
    const entries: Entry[] = [];
    while (this.tokens.peek().type !== "'}'" && this.tokens.peek().type !== "','") {
      const optional = this.tokens.accept("'?'") !== undefined;
      if (!optional && !canStartExpression(this.tokens.peek().type) && !canStartExpression(this.tokens.peek(1).type)) {
        this.noExpression(this.tokens.peek(), itemStart("'}'"));
        break;
      }
      const key = this.expression();
      const colon = this.tokens.peek();
      this.tokens.expect("':'");
      if (this.tokens.recovering) break;
      entries.push({ key, value: this.expression(), optional, offset: colon.start });
      if (this.tokens.accept("','") === undefined) break;
    }
    this.closing("'}'");
    return this.tree.node(
      { kind: "map", entries, offset: open.start },
      entries.flatMap(({ key, value }) => [key, value]),
      false,
    );
  }

  /** A trailing comma is allowed. */
  private closing(type: TokenType): void {
    this.tokens.accept("','");
    this.tokens.expect(type, [type, "','"]);
  }
}

function fieldName(token: Token): string {
  return token.type === "ESC_IDENTIFIER" ? token.text.slice(1, -1) : token.text;
}
