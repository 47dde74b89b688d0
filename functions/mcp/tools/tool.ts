/** What a tool is. tools.ts lists them. */
import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/server';
import type { Caller } from '../../http/caller.ts';
import type { Rate } from '../../http/rate.ts';
import type { ApiRequest } from '../../http/request.ts';
import type { McpServices } from '../../services/mcp.ts';
import type { ObjectSchema } from './json-schema.ts';

/** The arguments of a call as the client sent them, without those that are null. */
export type Arguments = Readonly<Record<string, unknown>>;

/** Tells the client how far a wait is. It never throws. */
export type TellProgress = (waitedSeconds: number, ofSeconds: number, message: string) => Promise<void>;

export interface ToolCall {
  readonly args: Arguments;
  /** The request of the API's operation behind the tool. */
  readonly request: ApiRequest;
  readonly caller: Caller;
  readonly services: McpServices;
  /** Absent: the client did not ask for progress. */
  readonly tell?: TellProgress;
}

/** The parts of the request of the API's operation that the arguments decide. */
export interface Asked {
  readonly method: 'GET' | 'POST';
  /** The id of a creation. */
  readonly pathId?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For the model that chooses the tool. */
  readonly description: string;
  /** The rate of the account that a call counts against. */
  readonly rate: Rate;
  /** Set when a call that is sent again gets the creation of the first one. */
  readonly attaches?: true;
  readonly annotations: ToolAnnotations;
  readonly input: ObjectSchema;
  /** The form of the structured content of every result that is no error. */
  readonly output: ObjectSchema;
  readonly requestOf: (args: Arguments) => Asked;
  /** Throws the Problem of a refusal. */
  readonly run: (call: ToolCall) => Promise<CallToolResult>;
}
