import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { noUsageEnd, RUN_START } from '../../test/support/channels/recorded.ts';
import { CrabError, ERRORS, type ErrorCode, EXIT, errorData } from '../core/errors.ts';
import type { Outcome, RunEnd } from '../core/event.ts';
import { errorOf, exitCodeOf, stoppedBy } from './exit-code.ts';
import { createResult } from './json-result.ts';

function withError(outcome: Outcome, code: ErrorCode): RunEnd {
  return noUsageEnd(outcome, { error: errorData(new CrabError(code, 'why')) });
}

const ROWS: readonly (readonly [string, RunEnd, number])[] = [
  ['done', noUsageEnd('done'), 0],
  ['command', noUsageEnd('command'), 0],
  ['cancelled by nobody in particular', noUsageEnd('cancelled'), 130],
  ['cancelled by SIGINT', withError('cancelled', 'interrupted'), 130],
  ['cancelled by SIGTERM', withError('cancelled', 'terminated'), 143],
  ['cancelled by silence', withError('cancelled', 'idle-timeout'), 124],
  ['cancelled by a closed pipe', withError('cancelled', 'output-closed'), 1],
  ['turn limit', noUsageEnd('turnLimit'), 53],
  ['turn limit with another error beside it', withError('turnLimit', 'network'), 53],
  ['budget', noUsageEnd('budget'), 5],
  ['refused', noUsageEnd('refused'), 7],
  ['failed without a reason', noUsageEnd('failed'), 1],
  ['done, with a refusal on the way', { ...noUsageEnd('done'), denials: [] }, 0],
];

suite('exit status', () => {
  for (const [name, end, code] of ROWS) {
    test(`${name}: ${code}`, () => assert.equal(exitCodeOf(end), code));
  }

  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    test(`failed with ${code}: its own status, never 0`, () => {
      assert.equal(exitCodeOf(withError('failed', code)), EXIT[ERRORS[code].exit]);
      assert.notEqual(exitCodeOf(withError('failed', code)), 0);
    });
  }

  test('a result is an error exactly when the status is not 0', () => {
    const ends = [
      ...ROWS.map((row) => row[1]),
      ...(Object.keys(ERRORS) as ErrorCode[]).map((code) => withError('failed', code)),
    ];
    for (const end of ends) {
      const collector = createResult(() => 'id');
      collector.see(RUN_START);
      const result = collector.result(end) as Record<string, unknown>;
      assert.equal(result['is_error'], exitCodeOf(end) !== 0, end.outcome);
      assert.equal(result['exit_code'], exitCodeOf(end));
      assert.equal(result['subtype'] === 'success', exitCodeOf(end) === 0, end.outcome);
      assert.deepEqual(result['error'], errorOf(end));
    }
  });

  test('a refusal says which call and why', () => {
    const denied = {
      type: 'permissionDenied',
      id: '1',
      tool: 'bash',
      input: {},
      reason: 'plan mode',
    } as const;
    assert.deepEqual(errorOf(noUsageEnd('refused', { denials: [denied] })), {
      code: 'permission-refused',
      message: 'bash was refused: plan mode',
      hint: ERRORS['permission-refused'].hint,
    });
  });

  test('whoever stopped a run names its error, unless it was over already', () => {
    const stop = new CrabError('terminated', 'Told to end.');
    assert.equal(exitCodeOf(stoppedBy(noUsageEnd('cancelled'), stop)), 143);
    assert.deepEqual(stoppedBy(noUsageEnd('done'), stop), noUsageEnd('done'));
  });
});
