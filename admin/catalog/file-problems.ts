import { OperatorError } from '../operator-error.ts';

/** A file has wrong fields. Each problem is one sentence that begins with the field. */
export class FileProblems extends OperatorError {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.length === 1 ? String(problems[0]) : `There are ${problems.length} problems.`, {
      problems,
    });
    this.problems = problems;
  }
}
