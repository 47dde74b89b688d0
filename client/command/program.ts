/** `darkroom`: all commands, and one run of one of them. */
import { inspect } from 'node:util';
import { CommanderError } from 'commander';
import { version } from '../src/http/call.ts';
import { addAccountCommands } from './commands/account.ts';
import { addBucketCommands } from './commands/bucket.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addCreationCommands, addResultCommands } from './commands/creations.ts';
import { addEndpointCommands } from './commands/endpoints.ts';
import { addGenerateCommand } from './commands/generate.ts';
import { addListenCommand } from './commands/listen.ts';
import { addLoginCommands } from './commands/login.ts';
import { addMcpCommand } from './commands/mcp.ts';
import { addRequestsCommand } from './commands/requests.ts';
import { addWebhookCommands } from './commands/webhooks.ts';
import { complaintOf, exitCodes, withoutKeys } from './complaint.ts';
import type { Io } from './io.ts';
import { colorsOf, type GlobalOptions, SessionCommand } from './session.ts';
import { visibleJson, visibleText } from './terminal/visible-text.ts';

/** In the order of the help. */
const commands = [
  addGenerateCommand,
  addCreationCommands,
  addResultCommands,
  addAccountCommands,
  addRequestsCommand,
  addListenCommand,
  addMcpCommand,
  addWebhookCommands,
  addEndpointCommands,
  addBucketCommands,
  addLoginCommands,
  addCompletionCommand,
];

function createProgram(io: Io): SessionCommand {
  const program = new SessionCommand(io, 'darkroom')
    .description('Images from text: the command of a Darkroom service')
    .version(version, '--version', 'print the version')
    .option('--json', 'one JSON document on standard output, and no progress')
    .option('--profile <name>', 'which stored key; without it DARKROOM_PROFILE, or default')
    .option('--debug', 'with an error, its stack as well')
    // A command copies these settings when it is added, so they come first.
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out.write(text), writeErr: (text) => io.err.write(text) })
    .showHelpAfterError('(add --help for what a command takes)')
    .addHelpText('after', '\nExit codes: 0 ok, 1 failed, 2 usage, 3 auth, 4 money, 5 rate');
  for (const add of commands) add(program);
  return program;
}

/** Runs one command, and returns its exit code. Every error is one sentence and a fix. */
export async function runCommand(args: readonly string[], io: Io): Promise<number> {
  const program = createProgram(io);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    return complain(error, program.opts<GlobalOptions>(), io);
  }
}

function complain(error: unknown, { json, debug }: GlobalOptions, io: Io): number {
  const { failure, message, fix, code, requestId, creationId, errorCode } = complaintOf(error);
  const exitCode = exitCodes[failure];
  if (json === true) {
    const complaint = {
      ...{ message, fix: fix ?? null, failure, code: code ?? null, request_id: requestId ?? null },
      creation_id: creationId ?? null,
      error_code: errorCode ?? null,
    };
    io.err.write(`${visibleJson({ error: complaint })}\n`);
  } else {
    const colors = colorsOf(io, io.err);
    io.err.write(`${colors.red(visibleText(message))}\n`);
    if (fix !== undefined) io.err.write(`${visibleText(fix)}\n`);
  }
  if (debug === true) {
    io.err.write(`${withoutKeys(inspect(error)).split('\n').map(visibleText).join('\n')}\n`);
  }
  return exitCode;
}
