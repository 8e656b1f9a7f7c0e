/** Why rights are there that nothing uses in a run on the local AWS. */
export interface Excuse {
  /** Of `<role> <action> <resource>`, with operators and jobs all alike. */
  readonly rights: RegExp;
  readonly why: string;
}

export const excuses: readonly Excuse[] = [
  {
    rights: / logs:(CreateLogStream|PutLogEvents) /,
    why: 'Lambda writes the logs with the rights of the function',
  },
  {
    rights: / kms:\w+ (its )?Key$/,
    why: 'DynamoDB, S3 and Kinesis use the key for whoever asks them, and the local ones encrypt nothing',
  },
  {
    rights: /^Operator kinesis:DescribeStream Source$/,
    why: 'the event source mapping asks with the rights of the function; ours asks for the summary',
  },
  {
    rights: /^Operator s3:PutObject Checkpoints\/aws\/lambda\/\*$/,
    why: 'Lambda writes what it discards with the rights of the function, and the settings of the mapping let it discard nothing',
  },
  {
    rights: /^Operator s3:ListBucket Checkpoints$/,
    why: 'Lambda asks for it when the mapping is created; an operator looks for no object that may be missing unless one was lost',
  },
  {
    rights: /^Operator dynamodb:BatchWriteItem Sink(journal|reminders)$/,
    why: 'they are not declared at-least-once, which only the code knows',
  },
  {
    rights: /^Operator dynamodb:(BatchGetItem|PartiQL\w+|PutItem) Sinknotices$/,
    why: 'it is declared at-least-once, which only the code knows',
  },
  {
    rights: /^StepsHandler dynamodb:BatchGetItem Sinknotices$/,
    why: 'rows that are brought back have names of their own beside those that came at least once, so that none is there before',
  },
  {
    rights: /^StepsHandler s3:ListBucket its Checkpoints$/,
    why: 'an object of the other job that is missing is 404 only to those who may list, and in the run none is',
  },
];
