/** What a tool is. tools.ts lists them. */
import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/server';
import type { Caller, Rate } from '../../api/admit.ts';
import type { ApiRequest } from '../../api/request.ts';
import { toolWaitSeconds } from '../../contract/limits.ts';
import { type FieldError, invalidRequest } from '../../values/problem.ts';
import type { McpServices } from '../open.ts';
import type { ObjectSchema } from './schemas.ts';

/** The arguments of a call as the client sent them, without those that are null. */
export type Arguments = Readonly<Record<string, unknown>>;

/** Sends the client the progress of a wait. Never throws. */
export type TellProgress = (waitedSeconds: number, ofSeconds: number, message: string) => Promise<void>;

export interface ToolCall {
  readonly args: Arguments;
  readonly request: ApiRequest;
  readonly caller: Caller;
  readonly services: McpServices;
  /** Absent: the client did not ask for progress. */
  readonly tell?: TellProgress;
}

export interface Asked {
  readonly method: 'GET' | 'POST';
  readonly pathId?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly rate: Rate;
  /** Set when a call that is sent again gets the creation of the first one. */
  readonly attaches?: true;
  readonly annotations: ToolAnnotations;
  readonly input: ObjectSchema;
  /** The form of the structured content of every result that is no error. */
  readonly output: ObjectSchema;
  readonly requestOf: (args: Arguments) => Asked;
  readonly run: (call: ToolCall) => Promise<CallToolResult>;
}

/** Throws 400 when an argument is missing or unknown. The API's own operation checks the values. */
export function checkArguments(args: Arguments, { properties, required }: ObjectSchema): void {
  const errors: FieldError[] = [
    ...Object.keys(args)
      .filter((name) => !Object.hasOwn(properties, name))
      .map((name): FieldError => {
        const known = Object.keys(properties).join(', ') || 'none';
        return {
          field: name.toWellFormed(),
          code: 'unknown_field',
          message: `not an argument of this tool, which takes ${known}`,
        };
      }),
    ...required
      .filter((name) => args[name] === undefined)
      .map((name) => ({ field: name, code: 'required', message: 'required' }) as const),
  ];
  if (errors.length > 0) throw invalidRequest(errors);
}

/** The seconds that a call waits for its image. Throws 400 when the argument is no such number. */
export function waitOf({ wait_seconds: seconds }: Arguments): number {
  const { usual, most } = toolWaitSeconds;
  if (seconds === undefined) return usual;
  if (typeof seconds === 'number' && seconds >= 0 && seconds <= most) return seconds;
  const message = `must be a number from 0 to ${most}`;
  throw invalidRequest([{ field: 'wait_seconds', code: 'invalid_value', message }]);
}
