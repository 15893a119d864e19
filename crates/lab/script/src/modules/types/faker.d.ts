declare module "k6/x/faker" {
  /** Invents values. Two with the same seed give the same values. */
  export class Faker {
    /** Without a seed, or with 0, the values differ each time. */
    constructor(seed?: number);
    /** Calls the function of this name. */
    call(func: string, ...args: unknown[]): unknown;
    /** Invents addresses and places. */
    readonly address: AddressFunctions;
    /** Invents animals and the names of pets. */
    readonly animal: AnimalFunctions;
    /** Invents applications. */
    readonly app: AppFunctions;
    /** Invents beers and their ingredients. */
    readonly beer: BeerFunctions;
    /** Invents books. */
    readonly book: BookFunctions;
    /** Invents numbers and places of Brazil. */
    readonly br: BrFunctions;
    /** Invents cars. */
    readonly car: CarFunctions;
    /** Invents famous people. */
    readonly celebrity: CelebrityFunctions;
    /** Invents colors. */
    readonly color: ColorFunctions;
    /** Invents companies and jobs. */
    readonly company: CompanyFunctions;
    /** Invents emojis. */
    readonly emoji: EmojiFunctions;
    /** Invents texts of errors. */
    readonly error: ErrorFunctions;
    /** Invents kinds of files. */
    readonly file: FileFunctions;
    /** Invents numbers of securities. */
    readonly finance: FinanceFunctions;
    /** Invents food and drinks. */
    readonly food: FoodFunctions;
    /** Invents games. */
    readonly game: GameFunctions;
    /** Invents words of computing. */
    readonly hacker: HackerFunctions;
    /** Invents fashionable words. */
    readonly hipster: HipsterFunctions;
    /** Invents hosts, browsers and accounts. */
    readonly internet: InternetFunctions;
    /** Invents languages. */
    readonly language: LanguageFunctions;
    /** Invents things in Minecraft. */
    readonly minecraft: MinecraftFunctions;
    /** Invents films. */
    readonly movie: MovieFunctions;
    /** Invents numbers. */
    readonly numbers: NumbersFunctions;
    /** Invents cards, accounts and prices. */
    readonly payment: PaymentFunctions;
    /** Invents people. */
    readonly person: PersonFunctions;
    /** Invents goods. */
    readonly product: ProductFunctions;
    /** Invents texts by pattern, length and choice. */
    readonly strings: StringsFunctions;
    /** Invents dates and time zones. */
    readonly time: TimeFunctions;
    /** Invents words, sentences and paragraphs. */
    readonly word: WordFunctions;
    /** All 312 functions. */
    readonly zen: AddressFunctions & AnimalFunctions & AppFunctions & BeerFunctions & BookFunctions & BrFunctions & CarFunctions & CelebrityFunctions & ColorFunctions & CompanyFunctions & EmojiFunctions & ErrorFunctions & FileFunctions & FinanceFunctions & FoodFunctions & GameFunctions & HackerFunctions & HipsterFunctions & InternetFunctions & LanguageFunctions & MinecraftFunctions & MovieFunctions & NumbersFunctions & PaymentFunctions & PersonFunctions & ProductFunctions & StringsFunctions & TimeFunctions & WordFunctions;
  }

  export interface AddressFunctions {
    address(): Record<string, unknown>;
    city(): string;
    country(): string;
    countryAbbreviation(): string;
    latitude(): number;
    latitudeRange(min?: number, max?: number): number;
    longitude(): number;
    longitudeRange(min?: number, max?: number): number;
    state(): string;
    stateAbbreviation(): string;
    street(): string;
    streetName(): string;
    streetNumber(): string;
    streetPrefix(): string;
    streetSuffix(): string;
    zip(): string;
  }

  export interface AnimalFunctions {
    animal(): string;
    animalType(): string;
    bird(): string;
    cat(): string;
    dog(): string;
    farmAnimal(): string;
    petName(): string;
  }

  export interface AppFunctions {
    appAuthor(): string;
    appName(): string;
    appVersion(): string;
  }

  export interface BeerFunctions {
    beerAlcohol(): string;
    beerBlg(): string;
    beerHop(): string;
    beerIbu(): string;
    beerMalt(): string;
    beerName(): string;
    beerStyle(): string;
    beerYeast(): string;
  }

  export interface BookFunctions {
    book(): Record<string, unknown>;
    bookAuthor(): string;
    bookGenre(): string;
    bookTitle(): string;
  }

  export interface BrFunctions {
    brCity(): string;
    brCnpj(formatted?: boolean, alphanumeric?: boolean): string;
    brCpf(formatted?: boolean): string;
    brPhoneNumber(mobile?: boolean): string;
    brRg(): string;
    brSearchTerm(mode?: string): string;
    brState(): string;
    brStateAbbr(): string;
    brZipCode(): string;
  }

  export interface CarFunctions {
    car(): Record<string, unknown>;
    carFuelType(): string;
    carMaker(): string;
    carModel(): string;
    carTransmissionType(): string;
    carType(): string;
  }

  export interface CelebrityFunctions {
    celebrityActor(): string;
    celebrityBusiness(): string;
    celebritySport(): string;
  }

  export interface ColorFunctions {
    color(): string;
    hexColor(): string;
    niceColors(): string[];
    rgbColor(): number[];
    safeColor(): string;
  }

  export interface CompanyFunctions {
    blurb(): string;
    bs(): string;
    buzzword(): string;
    company(): string;
    companySuffix(): string;
    job(): Record<string, unknown>;
    jobDescriptor(): string;
    jobLevel(): string;
    jobTitle(): string;
    slogan(): string;
  }

  export interface EmojiFunctions {
    emoji(): string;
    emojiAlias(): string;
    emojiCategory(): string;
    emojiDescription(): string;
    emojiTag(): string;
  }

  export interface ErrorFunctions {
    databaseError(): string;
    error(): string;
    errorObjectWord(): string;
    gRPCError(): string;
    httpClientError(): string;
    httpError(): string;
    httpServerError(): string;
    runtimeError(): string;
    validationError(): string;
  }

  export interface FileFunctions {
    fileExtension(): string;
    fileMimeType(): string;
  }

  export interface FinanceFunctions {
    cusip(): string;
    isin(): string;
  }

  export interface FoodFunctions {
    breakfast(): string;
    dessert(): string;
    dinner(): string;
    drink(): string;
    fruit(): string;
    lunch(): string;
    snack(): string;
    vegetable(): string;
  }

  export interface GameFunctions {
    dice(numdice?: number, sides?: number[]): number[];
    gamertag(): string;
  }

  export interface HackerFunctions {
    hackerAbbreviation(): string;
    hackerAdjective(): string;
    hackerNoun(): string;
    hackerPhrase(): string;
    hackerVerb(): string;
    hackeringVerb(): string;
  }

  export interface HipsterFunctions {
    hipsterParagraph(paragraphcount?: number, sentencecount?: number, wordcount?: number, paragraphseparator?: string): string;
    hipsterSentence(wordcount?: number): string;
    hipsterWord(): string;
  }

  export interface InternetFunctions {
    chromeUserAgent(): string;
    domainName(): string;
    domainSuffix(): string;
    firefoxUserAgent(): string;
    httpMethod(): string;
    httpStatusCode(): number;
    httpStatusCodeSimple(): number;
    httpVersion(): string;
    imageUrl(width?: number, height?: number): string;
    inputName(): string;
    ipv4Address(): string;
    ipv6Address(): string;
    logLevel(): string;
    macAddress(): string;
    operaUserAgent(): string;
    password(lower?: boolean, upper?: boolean, numeric?: boolean, special?: boolean, space?: boolean, length?: number): string;
    safariUserAgent(): string;
    url(): string;
    userAgent(): string;
    username(): string;
  }

  export interface LanguageFunctions {
    language(): string;
    languageAbbreviation(): string;
    languageBcp(): string;
    programmingLanguage(): string;
  }

  export interface MinecraftFunctions {
    minecraftAnimal(): string;
    minecraftArmorPart(): string;
    minecraftArmorTier(): string;
    minecraftBiome(): string;
    minecraftDye(): string;
    minecraftFood(): string;
    minecraftMobBoss(): string;
    minecraftMobHostile(): string;
    minecraftMobNeutral(): string;
    minecraftMobPassive(): string;
    minecraftOre(): string;
    minecraftTool(): string;
    minecraftVillagerJob(): string;
    minecraftVillagerLevel(): string;
    minecraftVillagerStation(): string;
    minecraftWeapon(): string;
    minecraftWeather(): string;
    minecraftWood(): string;
  }

  export interface MovieFunctions {
    movie(): Record<string, unknown>;
    movieGenre(): string;
    movieName(): string;
  }

  export interface NumbersFunctions {
    boolean(): boolean;
    float32(): number;
    float32Range(min: number, max: number): number;
    float64(): number;
    float64Range(min: number, max: number): number;
    hexUint128(): string;
    hexUint16(): string;
    hexUint256(): string;
    hexUint32(): string;
    hexUint64(): string;
    hexUint8(): string;
    int16(): number;
    int32(): number;
    int64(): number;
    int8(): number;
    intRange(min: number, max: number): number;
    number(min?: number, max?: number): number;
    randomInt(ints: number[]): number;
    randomUint(uints: number[]): number;
    shuffleInts(ints: number[]): number[];
    uint16(): number;
    uint32(): number;
    uint64(): number;
    uint8(): number;
    uintRange(min?: number, max?: number): number;
  }

  export interface PaymentFunctions {
    achAccountNumber(): string;
    achRoutingNumber(): string;
    bitcoinAddress(): string;
    bitcoinPrivateKey(): string;
    creditCard(): Record<string, unknown>;
    creditCardCVV(): string;
    creditCardExp(): string;
    creditCardExpMonth(): string;
    creditCardExpYear(): string;
    creditCardNumber(types?: string[], bins?: string[], gaps?: boolean): string;
    creditCardNumberFormatted(): string;
    creditCardType(): string;
    currency(): Record<string, unknown>;
    currencyLong(): string;
    currencyShort(): string;
    price(min?: number, max?: number): number;
  }

  export interface PersonFunctions {
    email(): string;
    firstName(): string;
    gender(): string;
    hobby(): string;
    lastName(): string;
    middleName(): string;
    name(): string;
    namePrefix(): string;
    nameSuffix(): string;
    person(): Record<string, unknown>;
    phone(): string;
    phoneFormatted(): string;
    school(): string;
    ssn(): string;
    teams(people: string[], teams: string[]): Record<string, unknown>;
  }

  export interface ProductFunctions {
    product(): Record<string, unknown>;
    productCategory(): string;
    productDescription(): string;
    productFeature(): string;
    productMaterial(): string;
    productName(): string;
    productUpc(): string;
  }

  export interface StringsFunctions {
    digit(): string;
    digitN(count: number): string;
    letter(): string;
    letterN(count: number): string;
    lexify(str: string): string;
    numerify(str: string): string;
    randomString(strs: string[]): string;
    shuffleStrings(strs: string[]): string[];
    uuid(): string;
  }

  export interface TimeFunctions {
    date(format?: string): string;
    dateRange(startdate?: string, enddate?: string, format?: string): string;
    day(): number;
    futureTime(): string;
    hour(): number;
    minute(): number;
    month(): number;
    monthString(): string;
    nanosecond(): number;
    pastTime(): string;
    second(): number;
    timezone(): string;
    timezoneAbbreviation(): string;
    timezoneFull(): string;
    timezoneOffset(): number;
    timezoneRegion(): string;
    weekday(): string;
    year(): number;
  }

  export interface WordFunctions {
    adjective(): string;
    demonstrativeAdjective(): string;
    descriptiveAdjective(): string;
    indefiniteAdjective(): string;
    interrogativeAdjective(): string;
    possessiveAdjective(): string;
    properAdjective(): string;
    quantitativeAdjective(): string;
    adverb(): string;
    adverbDegree(): string;
    adverbFrequencyDefinite(): string;
    adverbFrequencyIndefinite(): string;
    adverbManner(): string;
    adverbPhrase(): string;
    adverbPlace(): string;
    adverbTimeDefinite(): string;
    adverbTimeIndefinite(): string;
    connective(): string;
    connectiveCasual(): string;
    connectiveComparitive(): string;
    connectiveComplaint(): string;
    connectiveExamplify(): string;
    connectiveListing(): string;
    connectiveTime(): string;
    noun(): string;
    nounAbstract(): string;
    nounCollectiveAnimal(): string;
    nounCollectivePeople(): string;
    nounCollectiveThing(): string;
    nounCommon(): string;
    nounConcrete(): string;
    nounCountable(): string;
    nounDeterminer(): string;
    nounPhrase(): string;
    nounProper(): string;
    nounUncountable(): string;
    preposition(): string;
    prepositionCompound(): string;
    prepositionDouble(): string;
    prepositionPhrase(): string;
    prepositionSimple(): string;
    pronoun(): string;
    pronounDemonstrative(): string;
    pronounIndefinite(): string;
    pronounInterrogative(): string;
    pronounObject(): string;
    pronounPersonal(): string;
    pronounPossessive(): string;
    pronounReflective(): string;
    pronounRelative(): string;
    comment(): string;
    interjection(): string;
    loremIpsumParagraph(paragraphcount?: number, sentencecount?: number, wordcount?: number, paragraphseparator?: string): string;
    loremIpsumSentence(wordcount?: number): string;
    loremIpsumWord(): string;
    paragraph(paragraphcount?: number, sentencecount?: number, wordcount?: number, paragraphseparator?: string): string;
    phrase(): string;
    question(): string;
    quote(): string;
    sentence(wordcount?: number): string;
    simpleSentence(): string;
    word(): string;
    actionVerb(): string;
    helpingVerb(): string;
    intransitiveVerb(): string;
    linkingVerb(): string;
    transitiveVerb(): string;
    verb(): string;
    verbPhrase(): string;
  }

  /** A Faker with the seed of the environment variable XK6_FAKER_SEED. */
  const faker: Faker;
  export default faker;
}
