/**
 * Shell completions. The shells' scripts ask the program itself, which reads its own table of commands: nothing is
 * listed twice.
 *
 *     k8ts node a⇥ ──► script ──► k8ts complete -- node a ──► add
 */
import { Argument, Command } from "commander";
import { table } from "#base";
import { listClusters } from "#cluster";

const SCRIPTS: Readonly<Record<string, string>> = table({
  bash: `_k8ts() {
  local IFS=$'\\n'
  COMPREPLY=($(k8ts complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _k8ts k8ts
`,
  zsh: `#compdef k8ts
_k8ts() {
  local -a found
  found=("\${(@f)$(k8ts complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a found
}
compdef _k8ts k8ts
`,
  fish: `complete -c k8ts -f -a '(k8ts complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
});

export function completionCommand(): Command {
  return new Command("completion")
    .description("print a script for shell completion: `source <(k8ts completion bash)`")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)))
    .action((shell: string) => void process.stdout.write(SCRIPTS[shell] ?? ""));
}

/** For the scripts alone. */
export function completeCommand(root: Command): Command {
  return new Command("complete")
    .argument("[words...]")
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      const names = (await listClusters(process.env)).map(({ name = "" }) => name);
      process.stdout.write(
        completions(root, words, names)
          .map((word) => `${word}\n`)
          .join(""),
      );
    });
}

/** `words`: what was typed; the last one is incomplete. */
export function completions(root: Command, words: readonly string[], clusters: readonly string[]): readonly string[] {
  const [typed = "", before] = [words.at(-1), words.at(-2)];
  let command = root;
  let operands = 0;
  for (const word of words.slice(0, -1)) {
    const next = command.commands.find((each) => each.name() === word);
    if (next !== undefined) [command, operands] = [next, 0];
    else if (!word.startsWith("-")) operands++;
  }
  return candidates(command, { typed, before, operands, clusters }).filter((word) => word.startsWith(typed));
}

interface Typed {
  readonly typed: string;
  readonly before: string | undefined;
  readonly operands: number;
  readonly clusters: readonly string[];
}

function candidates(command: Command, { typed, before, operands, clusters }: Typed): readonly string[] {
  const option = command.options.find((each) => each.long === before || each.short === before);
  if (option?.long === "--cluster") return clusters;
  if (option?.argChoices !== undefined) return option.argChoices;
  // Its value is a file, or anything.
  if (option !== undefined && !option.isBoolean()) return [];
  if (typed.startsWith("-")) return command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? []);
  const argument = command.registeredArguments[operands];
  return [
    ...command.commands.map((each) => each.name()).filter((name) => name !== "complete"),
    ...(argument?.name() === "cluster" ? clusters : (argument?.argChoices ?? [])),
  ];
}
