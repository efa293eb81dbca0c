/** Doubles in decimal, exact to the requested digit, rounded half to even. */

export function fixedDecimal(value: number, precision: number, { grouped = true } = {}): string {
  if (!Number.isFinite(value)) return specialText(value);
  const negative = value < 0 || Object.is(value, -0);
  // No double has more digits after the point.
  const needed = Math.min(precision, 1074);
  const digits = String(rounded(Math.abs(value), needed)).padStart(needed + 1, "0");
  const whole = digits.slice(0, digits.length - needed);
  const fraction = digits.slice(digits.length - needed).padEnd(precision, "0");
  const shown = grouped ? whole.replace(/\B(?=(?:\d{3})+$)/g, ",") : whole;
  return `${negative ? "-" : ""}${shown}${precision > 0 ? `.${fraction}` : ""}`;
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Six digits after the point, and a superscript exponent: `1.234568×10⁰⁴`. */
export function scientificDecimal(value: number): string {
  if (!Number.isFinite(value)) return specialText(value);
  // toExponential rounds halves up, but a double exactly between two such decimals has a 5 as its last digit.
  const [mantissa = "", exponent = "0"] = halfEven(value).split("e");
  const power = Number(exponent);
  const digits = String(Math.abs(power)).padStart(2, "0");
  const raised = [...digits].map((digit) => superscripts[Number(digit)]).join("");
  return `${mantissa}×10${power < 0 ? "⁻" : ""}${raised}`;
}

function halfEven(value: number): string {
  const exact = value.toExponential(30);
  const [, upTo = "", last = "", rest = "", exponent = ""] = /^(-?\d\.\d{5})(\d)(\d+)(e.*)$/.exec(exact) ?? [];
  if (!/^50*$/.test(rest) || Number(last) % 2 === 1) return value.toExponential(6);
  return `${upTo}${last}${exponent}`;
}

function specialText(value: number): string {
  return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "-∞";
}

/** value × 10^precision as an integer. */
function rounded(value: number, precision: number): bigint {
  const { mantissa, exponent } = parts(value);
  const scaled = mantissa * 10n ** BigInt(precision);
  if (exponent >= 0) return scaled << BigInt(exponent);
  const shift = BigInt(-exponent);
  const quotient = scaled >> shift;
  const rest = scaled - (quotient << shift);
  const half = 1n << (shift - 1n);
  return rest > half || (rest === half && quotient % 2n === 1n) ? quotient + 1n : quotient;
}

/** value = mantissa × 2^exponent. */
function parts(value: number): { readonly mantissa: bigint; readonly exponent: number } {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const raw = bits.getBigUint64(0);
  const biased = Number((raw >> 52n) & 0x7ffn);
  const fraction = raw & 0xfffffffffffffn;
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | 0x10000000000000n, exponent: biased - 1075 };
}
