/** The parser's position among the tokens, and the issues found so far. */
import { type Token, type TokenType, tokenTypes } from "./lexer.ts";
import type { Issue } from "./source.ts";

export class TokenCursor {
  readonly issues: Issue[] = [];
  private at = 0;
  private readonly tokens: readonly Token[];
  /** Set by a fault, cleared by the next token that fits, so that one fault is reported once. */
  private faulty = false;

  /** The last token is <EOF>. */
  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  get recovering(): boolean {
    return this.faulty;
  }

  peek(ahead = 0): Token {
    const token = this.tokens[Math.min(this.at + ahead, this.tokens.length - 1)];
    if (token === undefined) throw new Error("tokens end with <EOF>");
    return token;
  }

  advance(): Token {
    const token = this.peek();
    this.skip();
    this.faulty = false;
    return token;
  }

  /** Skips a token that does not fit. */
  skip(): void {
    if (this.peek().type !== "<EOF>") this.at++;
  }

  accept(type: TokenType): Token | undefined {
    return this.peek().type === type && type !== "<EOF>" ? this.advance() : undefined;
  }

  /** Skips one surplus token or assumes a missing one, if that helps. */
  expect(type: TokenType, expected: readonly TokenType[] = [type]): void {
    const token = this.peek();
    if (token.type === type) {
      this.advance();
      return;
    }
    if (this.faulty) return;
    if (token.type !== "<EOF>" && this.peek(1).type === type) {
      this.fault(`extraneous input '${token.text}' expecting ${listed(expected)}`, token.start);
      this.advance();
      this.advance();
    } else if (type === "')'" && token.type === "<EOF>") {
      this.fault(`missing ${type} at '<EOF>'`, token.start);
    } else {
      this.fault(`mismatched input '${token.text}' expecting ${listed(expected)}`, token.start);
    }
  }

  fault(message: string, offset: number): void {
    if (!this.faulty) this.issues.push({ message: `Syntax error: ${message}`, offset });
    this.faulty = true;
  }

  /** Reports the next fault even if no token fits until then. */
  endRecovery(): void {
    this.faulty = false;
  }
}

export function listed(types: readonly TokenType[]): string {
  const sorted = tokenTypes.filter((type) => types.includes(type));
  return sorted.length === 1 ? (sorted[0] ?? "") : `{${sorted.join(", ")}}`;
}
