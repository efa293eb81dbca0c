/** The tables have every name, number and type of the specification, and nothing else. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { enums } from "./enums.ts";
import { messages, services } from "./services.ts";

const lines = readFileSync(join(import.meta.dirname, "testing/specification.txt"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));

function specified(kind: string): readonly (readonly [name: string, body: string])[] {
  return lines
    .filter((line) => line.startsWith(`${kind} `))
    .map((line) => line.slice(kind.length + 1).split(/:\s*/, 2) as [string, string]);
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function fieldText([name, [number, type]]: readonly [string, readonly [number, string]]): string {
  const repeated = type.endsWith("[]");
  return `${repeated ? `repeated ${type.slice(0, -2)}` : type} ${snake(name)} = ${number};`;
}

describe("the tables of CSI", () => {
  const table: Readonly<Record<string, Readonly<Record<string, readonly [number, string]>>>> = messages;

  it.each(specified("message"))("message %s", (name, body) => {
    expect(Object.entries(table[name] ?? { missing: [0, "message"] as const }).map(fieldText)).toEqual(
      body === "" ? [] : body.split(/(?<=;) /),
    );
  });

  it.each(specified("enum"))("enum %s", (name, body) => {
    const values: Readonly<Record<string, number>> | undefined = enums[name as keyof typeof enums];
    expect(Object.entries(values ?? {}).map(([value, number]) => `${value} = ${number};`)).toEqual(
      body.split(/(?<=;) /),
    );
  });

  it.each(specified("service"))("service %s", (name, body) => {
    const rows: Readonly<Record<string, readonly string[]>> = services[name as keyof typeof services];
    const text = Object.entries(rows).map(([method, row]) => (row[2] === undefined ? method : `stream ${method}`));
    expect(text.join(" ")).toBe(body);
    for (const [method, row] of Object.entries(rows))
      expect(row.slice(0, 2)).toEqual([`${method}Request`, `${method}Response`]);
  });

  it("have nothing that the specification lacks", () => {
    const names = (kind: string) => specified(kind).map(([name]) => name);
    expect(Object.keys(messages).filter((name) => !names("message").includes(name))).toEqual([]);
    expect(Object.keys(enums).filter((name) => !names("enum").includes(name))).toEqual([]);
    expect(Object.keys(services).filter((name) => !names("service").includes(name))).toEqual([]);
  });

  it("every type is a scalar, a message or an enum", () => {
    const scalars = ["string", "bool", "int32", "int64", "map"];
    const types = Object.values(table).flatMap((fields) => Object.values(fields).map(([, type]) => type));
    const known = [...scalars, ...Object.keys(messages), ...Object.keys(enums).map((name) => `enum ${name}`)];
    expect(types.map((type) => type.replace("[]", "")).filter((type) => !known.includes(type))).toEqual([]);
  });
});
