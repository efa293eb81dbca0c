/**
 * The formats of strings. Names are compared without dashes; an unknown format is ignored, with a warning when a
 * definition uses it.
 */

import { table } from "#base";
import { parseCidr, parseIp } from "../../machinery/names/ip.ts";
import { DurationError, parseDuration } from "../../machinery/scalars/duration.ts";

export type FormatTest = (text: string) => boolean;

const digits = (text: string): string => text.replace(/[\s-]+/g, "");

const hostLetter = "[a-zA-Z0-9\\p{S}\\p{L}]";
const singleLabel = new RegExp(`^${hostLetter}-?${hostLetter}{0,62}$`, "u");
const innerLabel = new RegExp(`^${hostLetter}(?:[a-zA-Z0-9\\p{S}\\p{L}-]{0,61}${hostLetter})?$`, "u");
const lastLabel = new RegExp(`^(?!.*--)${hostLetter}[a-zA-Z0-9\\p{S}\\p{L}-]*${hostLetter}$`, "u");

const uuid = (version: string): FormatTest => {
  const pattern = new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}-?[0-9a-f]{12}$`, "i");
  return (text) => pattern.test(text);
};

const colorPart = "(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])";
const rgbColor = new RegExp(`^rgb\\(\\s*${colorPart}\\s*,\\s*${colorPart}\\s*,\\s*${colorPart}\\s*\\)$`);
const card =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

const tests: Readonly<Record<string, FormatTest>> = table({
  bsonobjectid: (text) => /^[0-9a-fA-F]{24}$/.test(text),
  uri: isRequestUri,
  email: isEmail,
  hostname: isHostname,
  ipv4: (text) => text.includes(".") && parseIp(text) !== undefined,
  ipv6: (text) => text.includes(":") && parseIp(text) !== undefined,
  cidr: (text) => parseCidr(text) !== undefined,
  mac: isMac,
  uuid: uuid("[0-9a-f]{4}-?[0-9a-f]{4}"),
  uuid3: uuid("3[0-9a-f]{3}-?[0-9a-f]{4}"),
  uuid4: uuid("4[0-9a-f]{3}-?[89ab][0-9a-f]{3}"),
  uuid5: uuid("5[0-9a-f]{3}-?[89ab][0-9a-f]{3}"),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: (text) => isCreditCard(text.replace(/[^0-9]+/g, "")),
  ssn: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  hexcolor: (text) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  rgbcolor: (text) => rgbColor.test(text),
  byte: isBase64,
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (text) => text.length <= 63 && label.test(text),
  k8slongname: (text) => text.length <= 253 && text.split(".").every((part) => label.test(part)),
});

const integerFormats = ["int32", "int64"];
const numberFormats = ["float", "double"];

/** Whether a format applies to this type; `type` is "" where there is none, or more than one. */
export function isKnownFormat(format: string, type: string): boolean {
  if (type === "" || type === "string") return formatTest(format) !== undefined;
  if (type === "integer") return integerFormats.includes(format);
  return type === "number" && numberFormats.includes(format);
}

export function formatTest(format: string): FormatTest | undefined {
  const name = format.replaceAll("-", "");
  return Object.hasOwn(tests, name) ? tests[name] : undefined;
}

function isRequestUri(text: string): boolean {
  if (/[\s\p{Cc}]/u.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return false;
  if (text.startsWith("/")) return true;
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text) && (!/^[^:]*:\/\//.test(text) || URL.canParse(text));
}

/** An address of RFC 5322, with or without a display name. */
function isEmail(text: string): boolean {
  const atom = '[^\\s()<>\\[\\]:;@\\\\,."]+';
  const address = `(?:${atom}(?:\\.${atom})*|"(?:[^"\\\\\\r\\n]|\\\\.)*")@(?:${atom}(?:\\.${atom})*|\\[[^\\[\\]\\\\]+\\])`;
  return new RegExp(`^\\s*(?:${address}|[^<>@]*<\\s*${address}\\s*>)\\s*$`, "u").test(text);
}

function isHostname(text: string): boolean {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > 255) return false;
  const labels = text.split(".");
  if (labels.some((part) => new TextEncoder().encode(part).length > 63)) return false;
  if (labels.length === 1) return singleLabel.test(text);
  return labels.slice(0, -1).every((part) => innerLabel.test(part)) && lastLabel.test(labels.at(-1) ?? "");
}

function isMac(text: string): boolean {
  return (
    /^[0-9a-fA-F]{2}(?:([:-])[0-9a-fA-F]{2})(?:\1[0-9a-fA-F]{2}){4}(?:(?:\1[0-9a-fA-F]{2}){2}|(?:\1[0-9a-fA-F]{2}){14})?$/.test(
      text,
    ) || /^[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){2}(?:\.[0-9a-fA-F]{4}|(?:\.[0-9a-fA-F]{4}){7})?$/.test(text)
  );
}

function isIsbn10(text: string): boolean {
  const isbn = digits(text);
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(isbn)) return false;
  let sum = 0;
  for (let i = 0; i < 9; i++) sum += (i + 1) * Number(isbn[i]);
  sum += 10 * (isbn[9] === "X" ? 10 : Number(isbn[9]));
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const isbn = digits(text);
  if (!/^[0-9]{13}$/.test(isbn)) return false;
  let sum = 0;
  for (let i = 0; i < 12; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(isbn[i]);
  return Number(isbn[12]) === (10 - (sum % 10)) % 10;
}

/** The Luhn algorithm. */
function isCreditCard(number: string): boolean {
  if (!card.test(number)) return false;
  let sum = 0;
  for (let i = 0; i < number.length; i++) {
    const digit = Number(number[number.length - 1 - i]) * (i % 2 === 0 ? 1 : 2);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function isDate(text: string): boolean {
  const [, year, month, day] = (/^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isDateTime(text: string): boolean {
  const [date = "", time] = text.toLowerCase().split("t");
  if (time === undefined || !isDate(date)) return false;
  const [, hour = "99", minute = "99", second = "99"] =
    /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time) ?? [];
  return hour <= "23" && minute <= "59" && second <= "59";
}

/** Go's syntax, or a number and a unit anywhere in the text. */
function isDuration(text: string): boolean {
  try {
    parseDuration(text);
    return true;
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    const units = /^(?:ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/i;
    return [...text.matchAll(/(?<!\d)\d+\s*([A-Za-zµ]+)/g)].some(([, unit = ""]) => units.test(unit));
  }
}
