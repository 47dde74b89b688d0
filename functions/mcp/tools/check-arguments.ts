import { toolWaitSeconds } from '../../../core/limits.ts';
import { invalidRequest, type FieldError } from '../../../core/problem.ts';
import type { ObjectSchema } from './json-schema.ts';
import type { Arguments } from './tool.ts';

/**
 * Throws 400 when an argument is missing, or is none of the tool's. The API's own operation checks the values.
 */
export function checkArguments(args: Arguments, { properties, required }: ObjectSchema): void {
  const errors: FieldError[] = [
    ...Object.keys(args)
      .filter((name) => !Object.hasOwn(properties, name))
      .map((name) => {
        const known = Object.keys(properties).join(', ') || 'none';
        return {
          field: name.toWellFormed(),
          code: 'unknown_field',
          message: `not an argument of this tool, which takes ${known}`,
        };
      }),
    ...required
      .filter((name) => args[name] === undefined)
      .map((name) => ({ field: name, code: 'required', message: 'required' })),
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
