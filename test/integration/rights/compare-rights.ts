import { ListExecutionsCommand } from '@aws-sdk/client-sfn';
import type { StackResource } from '../../../localstack/embedded/create-stack.ts';
import type { EmbeddedAws } from '../../../localstack/embedded/embedded-aws.ts';
import { allows, readRights, type Call, type Right } from './policy.ts';
import type { RightsAws } from './rights-aws.ts';
import type { Excuse } from './excuses.ts';

/** What is wrong with rights, in words that name things by their logical ids; all empty where nothing is. */
export interface RightsComparison {
  /** Calls that no policy of the caller's role allows. */
  readonly denied: string[];
  /** Rights that nothing has used. */
  readonly unused: string[];
  /** Rights to a pattern all of whose uses were in one folder under it. */
  readonly wide: string[];
  /** Excuses for what is no right, or is used after all. */
  readonly idle: string[];
}

/** What roles may do and what they have done. */
export interface RightsRecord {
  readonly granted: readonly Right[];
  readonly calls: readonly Call[];
  /** Names a right or a call: the same for each operator and each job. */
  readonly name: (of: Call) => string;
}

/** Gathers what the policies of the template allow, and what functions, schedules and state machines have done so far. */
export async function recordRights(rights: RightsAws): Promise<RightsRecord> {
  const { aws } = rights;
  return {
    granted: listRights(aws),
    calls: [...rights.calls(), ...callsOfSchedules(aws), ...(await callsOfMachines(rights))],
    name: createNames(aws),
  };
}

/** Compares both ways. A right of one function's is used where it is used by another one of the same kind. */
export function compareRights(
  { granted, calls, name }: RightsRecord,
  excuses: readonly Excuse[],
): RightsComparison {
  const uses = new Map<string, Call[]>(granted.map((right) => [name(right), []]));
  const ofRole = Map.groupBy(granted, ({ role }) => role);
  const denied = new Set<string>();
  for (const call of calls) {
    const allowing = (ofRole.get(call.role) ?? []).filter((right) => allows(right, call));
    for (const right of allowing) uses.get(name(right))!.push(call);
    if (allowing.length === 0) denied.add(name(call));
  }
  const patterns = granted.filter(({ resource }) => resource.includes('*'));
  const wide = patterns.filter(({ role, action, resource }) => {
    const used = calls.filter((call) =>
      allows({ role, action, resource, isConditional: false }, call),
    );
    return used.length > 0 && findFolder(used).length > resource.indexOf('*');
  });
  const unused = [...uses].filter(([, some]) => some.length === 0).map(([right]) => right);
  const isExcused = (right: string): boolean => excuses.some(({ rights }) => rights.test(right));
  return {
    denied: [...denied].sort(),
    unused: unused.filter((right) => !isExcused(right)).sort(),
    wide: [...new Set(wide.map(name))].sort(),
    idle: excuses
      .filter(({ rights }) => !isAllOf(rights, unused, [...uses.keys()]))
      .map(({ rights }) => String(rights)),
  };
}

/** Whether a pattern names rights, and none that is not among those that were found. */
function isAllOf(pattern: RegExp, found: readonly string[], all: readonly string[]): boolean {
  const named = all.filter((right) => pattern.test(right));
  return named.length > 0 && named.every((right) => found.includes(right));
}

/** The folder, with its slash, in which all of what was used lies. */
function findFolder(calls: readonly Call[]): string {
  const [first = '', ...rest] = calls.map(({ resource }) => resource);
  let length = first.length;
  for (const other of rest) {
    while (!other.startsWith(first.slice(0, length))) length -= 1;
  }
  const folder = first.slice(0, first.lastIndexOf('/', length - 1) + 1);
  // Within the folder of a job names are given in one place, which infra does not see.
  return folder.replace(/(\/jobs\/[^/]+\/).*$/, '$1');
}

function listOfType(aws: EmbeddedAws, type: string): StackResource[] {
  return [...aws.resources.values()].filter((resource) => resource.type === type);
}

/** All that is granted to roles of the stack. */
function listRights(aws: EmbeddedAws): Right[] {
  return listOfType(aws, 'AWS::IAM::Policy').flatMap(({ properties }) =>
    (properties['Roles'] as string[]).flatMap((role) =>
      readRights(role, properties['PolicyDocument']),
    ),
  );
}

const lastPart = (arn: string): string => arn.slice(arn.lastIndexOf('/') + 1);

/* The local AWS calls functions of schedules and state machines by itself, so that there is nothing to record. */

function callsOfSchedules({ resources, schedules }: EmbeddedAws): Call[] {
  return schedules
    .list()
    .filter((schedule) => schedule.stats().runs > 0)
    .map(({ logicalId }) => {
      const { Arn, RoleArn } = resources.get(logicalId)!.properties['Target'] as {
        readonly Arn: string;
        readonly RoleArn: string;
      };
      return { role: lastPart(RoleArn), action: 'lambda:InvokeFunction', resource: Arn };
    });
}

async function callsOfMachines({ aws, clients }: RightsAws): Promise<Call[]> {
  const calls: Call[] = [];
  for (const { physicalId, properties } of listOfType(aws, 'AWS::StepFunctions::StateMachine')) {
    const { executions = [] } = await clients.stepFunctions.send(
      new ListExecutionsCommand({ stateMachineArn: physicalId }),
    );
    if (executions.length === 0) continue;
    const definition = properties['DefinitionString'] as string;
    for (const [, resource] of definition.matchAll(/"(arn:[^"]*:lambda:[^"]*:function:[^"]+)"/g)) {
      const role = lastPart(properties['RoleArn'] as string);
      calls.push({ role, action: 'lambda:InvokeFunction', resource: resource! });
    }
  }
  return calls;
}

/** `Operator dynamodb:GetItem Control`: the same for each operator and job; what is another job's is `its`. */
function createNames({ resources, stackName }: EmbeddedAws): (of: Call) => string {
  const arns = [...resources].flatMap(([logicalId, { type, attributes }]) =>
    Object.entries(attributes)
      .filter(([attribute]) => attribute.endsWith('Arn'))
      .map(([, arn]) => ({
        arn: arn as string,
        logicalId,
        isShared: type === 'AWS::Kinesis::Stream',
      })),
  );
  const split = (logicalId: string): [job: string, rest: string] => {
    const [, job = '?', rest = logicalId] = /^(Job|Twin)(.*?)[0-9A-F]{8}$/.exec(logicalId) ?? [];
    return [job, rest];
  };
  return ({ role, action, resource }) => {
    const [job, whose] = split(role.replace(`${stackName}-`, '').replace(/-[0-9a-f]+$/, ''));
    const found = arns.find(({ arn }) => resource === arn || resource.startsWith(`${arn}/`));
    const [owner, what] = split(found?.logicalId ?? resource);
    const isOwn = found === undefined || found.isShared || owner === job;
    const rest = resource
      .slice(found?.arn.length ?? resource.length)
      .replace(/jobs\/accounts(-b)?\//, 'jobs/<job>/');
    return [
      whose.replace(/Role$/, '').replace(/^Operator.*/, 'Operator'),
      action,
      `${isOwn ? '' : 'its '}${what.replace(/^Operator(accounts|reminders)/, 'Operator')}${rest}`,
    ].join(' ');
  };
}
