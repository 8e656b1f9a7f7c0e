import { parseTimestampMs, readCondition } from './choice-rules.ts';
import type {
  ChoiceState,
  FailState,
  MapState,
  PassState,
  State,
  StateGraph,
  StateMachineDefinition,
  TaskState,
  WaitState,
} from './definition.ts';
import { FieldReader } from './field-reader.ts';
import { compilePath, type Expression } from './json-path.ts';
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from './json-value.ts';
import { compileExpression, compileTemplate } from './payload-template.ts';
import { COUNT_MAX, readCatchers, readResultPath, readRetriers } from './retry-rules.ts';
import { INVOKE_RESOURCE, readTaskResource, type FunctionCheck } from './task-resource.ts';

const NAME_LENGTH_MAX = 80;
/** Inline maps run no more iterations at once, whatever they ask for. */
export const ITERATIONS_MAX = 40;

interface Reading {
  readonly problems: string[];
  readonly names: Set<string>;
  readonly hasFunction: FunctionCheck;
}

/**
 * Reads a definition in the Amazon States Language, JSONPath: Pass, Task (Lambda), Choice, Wait, Map (inline), Succeed,
 * Fail. Throws one error with a line for each thing that is wrong or unknown here; each names its state.
 */
export function readDefinition(text: string, hasFunction: FunctionCheck): StateMachineDefinition {
  const reading: Reading = { problems: [], names: new Set(), hasFunction };
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new DefinitionError(['the definition is no JSON object']);
  const reader = new FieldReader('state machine', value, reading.problems);
  reader.choice('Version', ['1.0']);
  reader.choice('QueryLanguage', ['JSONPath']);
  const timeoutSeconds = reader.number('TimeoutSeconds', { min: 1, max: COUNT_MAX });
  const graph = readGraph(reader, reading);
  if (reading.problems.length > 0) throw new DefinitionError(reading.problems);
  return { ...graph, timeoutSeconds };
}

/** A definition that the local Step Functions refuse. */
export class DefinitionError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'DefinitionError';
    this.problems = problems;
  }
}

/** Reads everything but what only the owner of the graph has, then reports what is left. */
function readGraph(reader: FieldReader, reading: Reading): StateGraph {
  const startAt = reader.text('StartAt');
  reader.textOr('Comment');
  const states = reader.get('States') ?? {};
  reader.finish();
  if (!isJsonObject(states)) reader.refuse('States', 'an object');
  const graph: StateGraph = {
    startAt,
    states: new Map(
      Object.entries(isJsonObject(states) ? states : {}).map(([name, value]) => [
        name,
        readState(name, value, reading),
      ]),
    ),
  };
  checkTransitions(graph, reader, reading);
  return graph;
}

function readState(name: string, value: JsonValue, reading: Reading): State {
  const fields: JsonObject = isJsonObject(value) ? value : {};
  const reader = new FieldReader(`state "${name}"`, fields, reading.problems);
  if (name.length > NAME_LENGTH_MAX) reader.report(`its name is longer than ${NAME_LENGTH_MAX}`);
  if (reading.names.has(name)) reader.report('another state has this name, too; rename one');
  reading.names.add(name);
  const type = reader.text('Type');
  const readType = stateReaders[type];
  if (readType === undefined) {
    reader.report(
      `states of type "${type}" are not supported locally (known here: ${Object.keys(stateReaders).join(', ')}); use another or teach it to the local Step Functions`,
    );
    return { type: 'Succeed', name, selectInput: whole, selectOutput: whole };
  }
  reader.textOr('Comment');
  reader.choice('QueryLanguage', ['JSONPath']);
  const state = readType(reader, name, reading);
  reader.finish();
  return state;
}

const whole: Expression = ({ data }) => data;
const nothing: Expression = () => ({});

const stateReaders: Readonly<
  Record<string, (reader: FieldReader, name: string, reading: Reading) => State>
> = {
  Pass: (reader, name): PassState => ({
    type: 'Pass',
    ...readCommon(reader, name),
    ...readNext(reader),
    parameters: readTemplate(reader, 'Parameters'),
    result: reader.get('Result'),
    putResult: readResultPath(reader),
  }),
  Task: readTask,
  Choice: readChoice,
  Wait: readWait,
  Map: readMap,
  Succeed: (reader, name) => ({ type: 'Succeed', ...readCommon(reader, name) }),
  Fail: (reader, name): FailState => ({
    type: 'Fail',
    name,
    selectInput: whole,
    selectOutput: whole,
    error: readEither(reader, 'Error', 'ErrorPath'),
    cause: readEither(reader, 'Cause', 'CausePath'),
  }),
};

function readTask(reader: FieldReader, name: string, reading: Reading): TaskState {
  const resource = readTaskResource(reader, reading.hasFunction);
  const timeout = reader.number('TimeoutSeconds', { min: 1, max: COUNT_MAX });
  const timeoutPath = reader.compileText('TimeoutSecondsPath', compilePath);
  excludeEachOther(reader, ['TimeoutSeconds', 'TimeoutSecondsPath']);
  return {
    type: 'Task',
    ...readWork(reader, name),
    parameters: readTemplate(reader, 'Parameters'),
    functionArn: resource === INVOKE_RESOURCE ? undefined : resource,
    timeoutSeconds: timeoutPath ?? (timeout === undefined ? undefined : () => timeout),
  };
}

function readChoice(reader: FieldReader, name: string): ChoiceState {
  const rules = reader.objects('Choices');
  if (rules.length === 0) reader.report('field "Choices" has no rule');
  return {
    type: 'Choice',
    ...readCommon(reader, name),
    choices: rules.map((rule) => {
      const choice = { condition: readCondition(rule), next: rule.text('Next') };
      rule.textOr('Comment');
      rule.finish();
      return choice;
    }),
    fallback: reader.textOr('Default'),
  };
}

function readWait(reader: FieldReader, name: string): WaitState {
  const fields = ['Seconds', 'SecondsPath', 'Timestamp', 'TimestampPath'];
  if (fields.filter((field) => reader.has(field)).length !== 1) {
    reader.report(`exactly one of ${fields.join(', ')} is expected`);
  }
  const fixedSeconds = reader.number('Seconds', { min: 0, max: COUNT_MAX });
  const fixedTimestamp = reader.textOr('Timestamp');
  if (fixedTimestamp !== undefined && parseTimestampMs(fixedTimestamp) === undefined) {
    reader.refuse('Timestamp', 'an RFC 3339 timestamp');
  }
  const seconds =
    reader.compileText('SecondsPath', compilePath) ??
    (fixedSeconds === undefined ? undefined : () => fixedSeconds);
  const timestamp =
    reader.compileText('TimestampPath', compilePath) ?? (() => fixedTimestamp ?? null);
  return {
    type: 'Wait',
    ...readCommon(reader, name),
    ...readNext(reader),
    until: seconds === undefined ? { kind: 'timestamp', timestamp } : { kind: 'seconds', seconds },
  };
}

function readMap(reader: FieldReader, name: string, reading: Reading): MapState {
  const concurrency = reader.number('MaxConcurrency', { min: 0, max: COUNT_MAX }) ?? 0;
  const concurrencyPath = reader.compileText('MaxConcurrencyPath', compilePath);
  excludeEachOther(reader, ['MaxConcurrency', 'MaxConcurrencyPath']);
  const processor = reader.object('ItemProcessor');
  if (processor === undefined) reader.report('field "ItemProcessor" is missing; add it');
  const mode = processor?.object('ProcessorConfig');
  mode?.choice('Mode', ['INLINE']);
  mode?.finish();
  const nested = processor ?? new FieldReader(reader.place, {}, []);
  return {
    type: 'Map',
    ...readWork(reader, name),
    selectItems: reader.compileText('ItemsPath', compilePath) ?? whole,
    selectItem: reader.compile('ItemSelector', compileTemplate),
    concurrencyMax: concurrencyPath ?? (() => concurrency),
    iteration: readGraph(nested, reading),
  };
}

function readCommon(
  reader: FieldReader,
  name: string,
): { name: string; selectInput: Expression; selectOutput: Expression } {
  return {
    name,
    selectInput: readSelection(reader, 'InputPath'),
    selectOutput: readSelection(reader, 'OutputPath'),
  };
}

function readWork(
  reader: FieldReader,
  name: string,
): Pick<
  TaskState,
  | 'name'
  | 'selectInput'
  | 'selectOutput'
  | 'next'
  | 'selectResult'
  | 'putResult'
  | 'retriers'
  | 'catchers'
> {
  return {
    ...readCommon(reader, name),
    ...readNext(reader),
    selectResult: readTemplate(reader, 'ResultSelector'),
    putResult: readResultPath(reader),
    retriers: readRetriers(reader),
    catchers: readCatchers(reader),
  };
}

function readNext(reader: FieldReader): { next: string | undefined } {
  const next = reader.textOr('Next');
  reader.choice('End', [true, false]);
  if ((next !== undefined) === (reader.get('End') === true)) {
    reader.report('exactly one of "Next" and "End": true is expected');
  }
  return { next };
}

/** InputPath and OutputPath: absent is everything, null is an empty object. */
function readSelection(reader: FieldReader, field: string): Expression {
  if (reader.get(field) === null) return nothing;
  return reader.compileText(field, compilePath) ?? whole;
}

function readTemplate(reader: FieldReader, field: string): Expression {
  return reader.compile(field, compileTemplate) ?? whole;
}

/** A fixed text, or the path or function of the other field. */
function readEither(reader: FieldReader, field: string, path: string): Expression | undefined {
  const text = reader.textOr(field);
  const expression = reader.compileText(path, compileExpression);
  excludeEachOther(reader, [field, path]);
  return expression ?? (text === undefined ? undefined : () => text);
}

function excludeEachOther(reader: FieldReader, fields: readonly string[]): void {
  if (fields.every((field) => reader.has(field))) {
    reader.report(`fields ${fields.join(' and ')} exclude each other; keep one`);
  }
}

/** Every transition leads to a state of the same graph, and every state is reached. */
function checkTransitions(graph: StateGraph, reader: FieldReader, { problems }: Reading): void {
  // What could not be read leads nowhere and would be blamed for it.
  if (problems.length > 0) return;
  const reached = new Set<string>();
  const visit = (name: string, from: string): void => {
    const state = graph.states.get(name);
    if (state === undefined) {
      problems.push(`${from}: there is no state "${name}" beside it; correct the name`);
    } else if (!reached.has(name)) {
      reached.add(name);
      for (const next of successors(state)) visit(next, `state "${name}"`);
    }
  };
  visit(graph.startAt, `${reader.place} StartAt`);
  for (const name of graph.states.keys()) {
    if (!reached.has(name)) problems.push(`state "${name}": nothing leads to it; remove it`);
  }
}

function successors(state: State): string[] {
  switch (state.type) {
    case 'Pass':
    case 'Wait':
      return state.next === undefined ? [] : [state.next];
    case 'Task':
    case 'Map':
      return [
        ...(state.next === undefined ? [] : [state.next]),
        ...state.catchers.map(({ next }) => next),
      ];
    case 'Choice':
      return [
        ...state.choices.map(({ next }) => next),
        ...(state.fallback === undefined ? [] : [state.fallback]),
      ];
    case 'Succeed':
    case 'Fail':
      return [];
  }
}
