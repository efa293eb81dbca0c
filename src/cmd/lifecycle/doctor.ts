/** `k8ts doctor`: what this machine lacks for real nodes, and how to get it. Exit code 1 if they cannot run here. */
import { Command, Option } from "commander";
import { type Finding, homeDir, nodeTools } from "#cluster";
import { textTable } from "../inspect/text-table.ts";

const SIGNS = { ok: "ok", lacks: "lacks", advice: "note" } as const;

export function doctorCommand(): Command {
  return new Command("doctor")
    .description("say what this machine lacks for real nodes, and how to get it; exit code 1 if they cannot run here")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .action(async ({ output }: { output: "text" | "json" }) => {
      const { examine } = await nodeTools();
      const findings = await examine(homeDir(process.env));
      process.stdout.write(output === "json" ? `${JSON.stringify(findings, undefined, 2)}\n` : report(findings));
      process.exitCode = canRun(findings) ? 0 : 1;
    });
}

function canRun(findings: readonly Finding[]): boolean {
  return findings.every(({ verdict }) => verdict !== "lacks");
}

export function report(findings: readonly Finding[]): string {
  const rows = findings.map(({ what, verdict, found }) => [SIGNS[verdict], what, found]);
  const helps = findings.flatMap(({ what, help }) => (help === undefined ? [] : [`${what}: ${help}`]));
  const end = canRun(findings)
    ? "Real nodes run here: `k8ts up` makes one."
    : "Real nodes cannot run here yet: `k8ts up` makes simulated ones.";
  return `${textTable(rows)}${helps.map((help) => `\n${help}`).join("")}${helps.length > 0 ? "\n" : ""}\n${end}\n`;
}
